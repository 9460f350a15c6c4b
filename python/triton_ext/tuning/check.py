# SPDX-License-Identifier: Apache-2.0
"""Checks whether a candidate computes the right result."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import TritonExtError
from ..support.shown import shown

Arguments = dict[str, Any]
Reference = Callable[[Arguments], Mapping[str, Any]]
Check = Callable[[Arguments], object]


class CheckError(TritonExtError):
    """The check itself failed, so nothing is known about the candidate."""


class Checker:
    """Compares the results of launches with those of a reference.

    Args:
        reference: takes the arguments, and returns the expected contents of some of them, by name.
        check: is called after a launch; returns False or raises AssertionError if the result is wrong.
        tolerance: the relative and the absolute one; None for the default of the type.
        kept: names of the arguments that are reset or restored between launches.
        arguments: the arguments of the launch by name, before any launch.

    Raises:
        TritonExtError: the reference raised, or returned something that cannot be compared with the arguments.
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
        self._expected: Arguments = {}
        self._spoiled: Arguments = {}
        self._saved: Arguments = {}
        if reference is None:
            return
        # The reference may work in place, and change arguments that it does not return.
        before = {name: value.clone() for name, value in arguments.items() if hasattr(value, "copy_")}
        try:
            self._expected = _expected(reference, arguments)
        finally:
            for name, value in before.items():
                with contextlib.suppress(RuntimeError):  # an expanded tensor, which cannot have been written to
                    arguments[name].copy_(value)
        self._spoiled = {name: arguments[name] for name in self._expected if name not in kept}
        self._saved = {name: before[name] for name in self._spoiled}

    def spoil(self) -> None:
        """Overwrites the results, so that results of an earlier launch are not taken for those of the next one."""
        for name, tensor in self._spoiled.items():
            if "float" in str(tensor.dtype):
                tensor.fill_(float("nan"))
            else:
                tensor.copy_(self._expected[name] == 0)  # differs from what is expected everywhere

    def problem(self, arguments: Arguments) -> str | None:
        """Returns what is wrong after a launch; None if the result is right.

        Raises:
            CheckError: `check` raised something other than AssertionError, or returned neither a truth value nor None.
        """
        for name, expected in self._expected.items():
            try:
                compare(arguments[name], expected, self._tolerance)
            except AssertionError as error:
                lines = [line.strip() for line in str(error).splitlines() if line.strip()]
                telling = [line for line in lines if line.startswith(("Mismatched", "Greatest", "Max"))]
                return f"{name}: " + ", ".join(telling or lines)
        if self._check is not None:
            try:
                verdict = self._check(dict(arguments))
            except AssertionError as error:
                return str(error) or "check raised AssertionError"
            except Exception as error:
                raise CheckError(f"check raised {type(error).__name__}: {error}") from error
            try:
                wrong = verdict is not None and not verdict
            except (RuntimeError, TypeError, ValueError) as error:  # of a tensor with many elements
                what = f"check returned {type(verdict).__name__}, expected True, False or None"
                raise CheckError(what, fix="(...).all()") from error
            if wrong:
                return f"check returned {shown(verdict)}"
        return None

    def restore(self) -> None:
        """Restores the tensors that `spoil` overwrote."""
        for name, tensor in self._spoiled.items():
            tensor.copy_(self._saved[name])


def _expected(reference: Reference, arguments: Arguments) -> Arguments:
    """Returns the result of `reference` as tensors that have the arguments' types and share no memory with them."""
    try:
        returned = reference(dict(arguments))
    except Exception as error:
        raise TritonExtError(f"reference raised {type(error).__name__}: {error}") from error
    if not isinstance(returned, Mapping) or not returned:
        found = "nothing" if returned is None or isinstance(returned, Mapping) else type(returned).__name__
        raise TritonExtError(
            f"reference: expected tensors by the names of arguments, got {found}", fix='return {"y": tensor}'
        )
    expected = {}
    for name, value in returned.items():
        tensor: Any = arguments.get(name)
        if not hasattr(tensor, "copy_"):
            raise TritonExtError(f"reference: '{name}' is not a tensor that the kernel is launched with")
        try:
            like = _like(value, tensor)
        except (RuntimeError, TypeError, ValueError) as error:
            raise TritonExtError(f"reference: '{name}': expected a tensor, got {type(value).__name__}") from error
        if _is_torch(tensor) and like.shape != tensor.shape:
            shapes = f"expected shape {tuple(tensor.shape)}, got {tuple(like.shape)}"
            raise TritonExtError(f"reference: '{name}': {shapes}")
        expected[name] = like.clone() if hasattr(like, "clone") else copy.deepcopy(like)
    return expected


def compare(actual: Any, expected: Any, tolerance: tuple[float, float] | None) -> None:
    """Raises AssertionError if two tensors, of PyTorch or anything that NumPy takes for an array, are not close."""
    if _is_torch(actual):
        import torch

        relative, absolute = tolerance or (None, None)
        torch.testing.assert_close(actual, expected, rtol=relative, atol=absolute, equal_nan=True)
        return
    import numpy as np

    relative, absolute = tolerance or (1e-5, 1e-6)
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), relative, absolute)


def _like(value: Any, tensor: Any) -> Any:
    """Returns `value` with the type and on the device of `tensor`, if `tensor` is of PyTorch."""
    if not _is_torch(tensor):
        return value
    import torch

    return torch.as_tensor(value, dtype=tensor.dtype, device=tensor.device)


def _is_torch(tensor: Any) -> bool:
    return type(tensor).__module__.partition(".")[0] == "torch"
