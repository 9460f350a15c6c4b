# SPDX-License-Identifier: Apache-2.0
"""Launches that a search checks and times: those of the user, and variants with other alignment and contents."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import TritonExtError
from ..support.shown import shown
from ..tuning.check import Arguments, compare

#: Makes the arguments of one launch by name, or yields those of several.
MakeInputs = Callable[..., Any]
#: Elements in front of each tensor and behind it; a multiple of 16 bytes, so that the tensor is aligned.
_GUARD = 4096
#: What they hold: a value that every type has, small, because it may be read as an index.
_GUARDED = 1
Tolerance = tuple[float, float] | None


@dataclass
class Case:
    """One launch to check.

    Attributes:
        name: which of the user's launches it is, and how it was changed, e.g. ``launch 2, unaligned``.
        arguments: the arguments by name; tensors are overwritten by each launch.
        initial: contents of the tensors before a launch.
        expected: contents after a launch of the unedited kernel.
        poisoned: tensors whose contents after a launch do not depend on those before, so that they can be overwritten
            before a launch to see whether it writes.
        exact: whether the unedited kernel gives the same bits every time.
        checks_reference: whether the reference applies, which it does to the user's own contents.
        guards: for each tensor the memory in front of it and behind it, which no launch may change.
    """

    name: str
    arguments: Arguments
    initial: Arguments
    expected: Arguments
    poisoned: tuple[str, ...] = ()
    exact: bool = True
    checks_reference: bool = True
    guards: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def reset(self, *, poison: bool = True) -> None:
        """Restores the tensors; those in `poisoned` get values that no kernel leaves there by chance."""
        for name, value in self.initial.items():
            if poison and name in self.poisoned:
                spoil(self.arguments[name], self.expected.get(name))
            else:
                self.arguments[name].copy_(value)

    def learn(self, launch: Callable[[], object], tolerance: Tolerance = None) -> None:
        """Launches the unedited kernel three times, and keeps its results and whether they are always the same.

        The last time, the tensors that it writes have other contents. If that changes no result, they are spoiled
        before each later launch, so that old results are not taken for those of a launch that writes nothing. A kernel
        that adds to a tensor needs the old contents. The arguments hold the results afterwards.

        Args:
            launch: launches the unedited kernel with `arguments` and waits for it.
            tolerance: as for `problem`.
        """
        launch()
        self.expected = copies(self.arguments)
        written = [name for name, value in self.initial.items() if not same_bits(self.expected[name], value)]
        self.reset()
        launch()
        self.exact = all(same_bits(self.arguments[name], value) for name, value in self.expected.items())
        self.poisoned = tuple(written)
        self.reset()
        launch()
        if self.problem(tolerance, exact=True) is not None:
            self.poisoned = ()
        for name, value in self.expected.items():
            self.arguments[name].copy_(value)

    def problem(self, tolerance: Tolerance, *, exact: bool) -> str | None:
        """Returns how the tensors after a launch differ from the expected ones; None if they do not.

        Args:
            tolerance: relative and absolute; None for the default of the type.
            exact: whether bits have to be equal; then `tolerance` does not count.
        """
        for name, guards in self.guards.items():
            if not all(_is_untouched(guard) for guard in guards):
                for guard in guards:
                    _set_guard(guard)
                return f"{name}: the kernel has written outside of the tensor"
        for name, expected in self.expected.items():
            found = self.arguments[name]
            if same_bits(found, expected):
                continue
            if exact and self.exact:
                return f"{name}: {_difference(found, expected)}, expected equal bits"
            try:
                compare(found, expected, tolerance)
            except AssertionError as error:
                return f"{name}: {_in_words(error)}"
        return None


def made_launches(make: MakeInputs, seed: int) -> list[Arguments]:
    """Calls the user's function and returns the arguments of each launch.

    Args:
        make: takes nothing, or the seed; returns a mapping of arguments by name, or yields several.
        seed: for a function that takes one, and for PyTorch's generator.

    Raises:
        TritonExtError: it raised, or made something else.
    """
    import torch

    torch.manual_seed(seed)
    takes_seed = bool(inspect.signature(make).parameters)
    try:
        made = make(seed) if takes_seed else make()
        launches = [made] if isinstance(made, Mapping) else list(made)
    except Exception as error:
        raise TritonExtError(f"inputs raised {type(error).__name__}: {error}") from error
    for launch in launches or [None]:
        if not isinstance(launch, Mapping) or not all(isinstance(name, str) for name in launch):
            raise TritonExtError(
                f"inputs: expected arguments by name, got {shown(launch)}", fix='return {"x": x, "y": y, "n": n}'
            )
        if not any(is_tensor(value) for value in launch.values()):
            raise TritonExtError("inputs: no argument is a tensor of PyTorch, so no result can be checked")
    return [dict(launch) for launch in launches]


def variants(launches: list[Arguments], seed: int, *, unaligned: bool) -> Iterator[Case]:
    """Yields each launch to check, without results; its tensors lie between guards.

    The smallest launch is repeated with its values in another order, and with tensors that begin one element later, for
    which Triton compiles another kernel.
    """
    for number, launch in enumerate(launches, 1):
        yield _guarded(f"launch {number}", launch)
    number, smallest = min(enumerate(launches, 1), key=lambda one: _bytes(one[1]))
    permuted = {name: _permuted(value, seed) if is_tensor(value) else value for name, value in smallest.items()}
    yield replace(_guarded(f"launch {number}, values permuted", permuted), checks_reference=False)
    if unaligned:
        yield _guarded(f"launch {number}, unaligned", smallest, shift=1)


def is_tensor(value: object) -> bool:
    """Whether `value` is a tensor of PyTorch."""
    return type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "data_ptr")


def same_bits(a: Any, b: Any) -> bool:
    """Whether two tensors of one shape and type have the same bits; NaNs are equal if their bits are."""
    import torch

    return bool(torch.equal(_bits(a), _bits(b)))


def spoil(tensor: Any, expected: Any = None) -> None:
    """Overwrites a tensor with values that differ from the expected ones everywhere; floats with NaN."""
    if tensor.is_floating_point():
        tensor.fill_(float("nan"))
    elif expected is not None:
        tensor.copy_(expected == 0)
    else:
        tensor.fill_(1)


def copies(arguments: Arguments) -> Arguments:
    """Returns copies of the tensors among `arguments`, by name."""
    return {name: value.clone() for name, value in arguments.items() if is_tensor(value)}


def _bits(tensor: Any) -> Any:
    import torch

    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor if tensor.is_complex() or tensor.dtype == torch.bool else tensor.view(kinds[tensor.element_size()])


def _bytes(arguments: Arguments) -> int:
    return sum(value.numel() * value.element_size() for value in arguments.values() if is_tensor(value))


def _permuted(tensor: Any, seed: int) -> Any:
    """Returns a copy of a float tensor with its values in another order; a copy of another one as it is."""
    import torch

    copy = _like(tensor)
    if not tensor.is_floating_point() or tensor.numel() < 2:
        return copy
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(tensor.numel(), generator=generator).to(tensor.device)
    return copy.copy_(tensor.reshape(-1)[order].reshape(tensor.shape))


def _guarded(name: str, arguments: Arguments, shift: int = 0) -> Case:
    """Returns a launch whose tensors are copies between guards.

    Args:
        name: its name.
        arguments: its arguments; a tensor that is given twice stays one.
        shift: by how many elements each tensor is off an aligned address.
    """
    import torch

    made: Arguments = {}
    guards: dict[str, tuple[Any, ...]] = {}
    known: dict[int, Any] = {}
    for key, tensor in arguments.items():
        if not is_tensor(tensor):
            made[key] = tensor
            continue
        if id(tensor) not in known:
            strides = zip(tensor.shape, tensor.stride(), strict=True)
            span = 1 + sum((size - 1) * stride for size, stride in strides if size)
            memory = torch.empty(_GUARD + shift + span + _GUARD, dtype=tensor.dtype, device=tensor.device)
            guards[key] = memory[: _GUARD + shift], memory[_GUARD + shift + span :]
            for guard in guards[key]:
                _set_guard(guard)
            copy = torch.as_strided(memory, tensor.shape, tensor.stride(), _GUARD + shift)
            known[id(tensor)] = copy.copy_(tensor.detach())
        made[key] = known[id(tensor)]
    return Case(name, made, copies(made), {}, guards=guards)


def _set_guard(guard: Any) -> None:
    guard.fill_(_GUARDED)


def _is_untouched(guard: Any) -> bool:
    import torch

    return bool((guard == torch.full_like(guard, _GUARDED)).all())


def _like(tensor: Any) -> Any:
    import torch

    copy = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    return copy.copy_(tensor)


def _difference(found: Any, expected: Any) -> str:
    differs = _bits(found) != _bits(expected)
    count = int(differs.sum())
    first = int(differs.reshape(-1).int().argmax())
    values = (found.reshape(-1)[first].item(), expected.reshape(-1)[first].item())
    return f"{count:,} of {found.numel():,} elements differ, the first at {first}: got {values[0]}, not {values[1]}"


def _in_words(error: AssertionError) -> str:
    lines: Iterable[str] = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("Mismatched", "Greatest", "Max"))]
    return ", ".join(telling or lines)
