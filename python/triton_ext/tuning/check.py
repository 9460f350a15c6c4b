# SPDX-License-Identifier: Apache-2.0
"""Whether a candidate computes what it should."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import TritonExtError

Arguments = dict[str, Any]
Reference = Callable[[Arguments], Mapping[str, Any]]
Check = Callable[[Arguments], object]


class Checker:
    """Compares the results of launches with those of a reference.

    Args:
        reference: returns what the arguments that it names should hold after a launch.
        check: is called after a launch; says no by returning False or raising AssertionError.
        tolerance: relative and absolute; None for what is usual for the type.
        kept: arguments that are reset or restored between launches anyway.
        arguments: of the launch, by name, before anything ran.
    """

    def __init__(
        self,
        reference: Reference | None,
        check: Check | None,
        tolerance: tuple[float, float] | None,
        kept: set[str],
        arguments: Arguments,
    ) -> None:
        self._check = check
        self._tolerance = tolerance
        self._expected = dict(reference(arguments)) if reference is not None else {}
        for name in self._expected:
            if not hasattr(arguments.get(name), "copy_"):
                raise TritonExtError(f"reference: '{name}' is no tensor that the kernel is launched with")
        self._spoiled = {name: arguments[name] for name in self._expected if name not in kept}
        self._saved = {name: tensor.clone() for name, tensor in self._spoiled.items()}

    def spoil(self) -> None:
        """Overwrites the results, so that those of an earlier launch are not taken for the next one's."""
        for name, tensor in self._spoiled.items():
            if "float" in str(tensor.dtype):
                tensor.fill_(float("nan"))
            else:
                tensor.copy_(_like(self._expected[name], tensor) == 0)  # differs from what is expected everywhere

    def problem(self, arguments: Arguments) -> str | None:
        """What is wrong after a launch, or None."""
        for name, expected in self._expected.items():
            try:
                _compare(arguments[name], expected, self._tolerance)
            except AssertionError as error:
                lines = [line.strip() for line in str(error).splitlines() if line.strip()]
                telling = [line for line in lines if line.startswith(("Mismatched", "Greatest", "Max"))]
                return f"{name}: " + ", ".join(telling or lines)
        if self._check is not None:
            try:
                verdict = self._check(arguments)
            except AssertionError as error:
                return str(error) or "check raised AssertionError"
            if verdict is not None and not verdict:
                return f"check returned {verdict!r}"
        return None

    def restore(self) -> None:
        """Puts back what `spoil` overwrote."""
        for name, tensor in self._spoiled.items():
            tensor.copy_(self._saved[name])


def _compare(actual: Any, expected: Any, tolerance: tuple[float, float] | None) -> None:
    """Raises AssertionError where tensors, of PyTorch or what NumPy takes for arrays, are not close."""
    if _is_torch(actual):
        import torch

        relative, absolute = tolerance or (None, None)
        torch.testing.assert_close(actual, _like(expected, actual), rtol=relative, atol=absolute, equal_nan=True)
        return
    import numpy as np

    relative, absolute = tolerance or (1e-5, 1e-6)
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), relative, absolute)


def _like(value: Any, tensor: Any) -> Any:
    """`value` as a tensor of the type and on the device of `tensor`, if that is one of PyTorch."""
    if not _is_torch(tensor):
        return value
    import torch

    return torch.as_tensor(value, dtype=tensor.dtype, device=tensor.device)


def _is_torch(tensor: Any) -> bool:
    return type(tensor).__module__.partition(".")[0] == "torch"
