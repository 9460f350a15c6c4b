# SPDX-License-Identifier: Apache-2.0
"""The kernel and its launches: what the user's files give for the texts of an agent."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..compilation.requests import load_kernel
from ..errors import TritonExtError
from ..pipeline.pipeline import Pipeline
from ..pipeline.used_kernels import use
from ..searching import launches
from ..searching.spaces import declared_configs
from ..support.shown import said, shown
from .answers import FailedError

#: How many launches of an inputs function are used.
MOST_CASES = 64
_WORD = re.compile(r"[\w.,+=: -]{0,200}", re.ASCII)
#: Options that name files.
_FILES = ("ir_override", "extern_libs")


@dataclass(frozen=True)
class Case:
    """One launch of the kernel.

    Attributes:
        arguments: the arguments of the kernel by name, and launch options.
        grid: the grid, or a function of the arguments.
        name: its number and the shapes of its tensors.
        tensors: how its tensors are restored and compared, if they lie between guards; None otherwise.
    """

    arguments: dict[str, Any]
    grid: Any
    name: str
    tensors: launches.Case | None = None


@dataclass(frozen=True)
class Kernel:
    """A kernel of the user.

    Attributes:
        callable: the kernel without autotuners around it, but with heuristics.
        name: its name.
        parameters: the names of its parameters.
        configurations: the configurations of its autotuners, as keyword arguments of a launch.
        pipelines: those that ``@tx.use`` put on it, outermost first.
    """

    callable: Any
    name: str
    parameters: tuple[str, ...]
    configurations: tuple[dict[str, Any], ...]
    pipelines: tuple[Pipeline, ...] = ()


def kernel_at(text: str) -> Kernel:
    """Returns the kernel ``FILE.py:name``.

    Raises:
        FailedError: the file raised, or has no such kernel.
    """
    from triton.runtime import Autotuner, JITFunction, KernelInterface

    path, _, name = text.rpartition(":")
    try:
        kernel = load_kernel(path, name)
    except TritonExtError as error:
        raise FailedError("input error", str(error)) from error
    if not isinstance(kernel, KernelInterface):
        raise FailedError("input error", f"'{name}' is not a kernel", fix="put @triton.jit on it")
    configurations = declared_configs(kernel)
    used: list[Pipeline] = []
    while isinstance(kernel, Autotuner):
        used += getattr(kernel, "triton_ext_pipelines", ())
        kernel = kernel.fn
    for pipeline in reversed(used):
        kernel = use(pipeline)(kernel)
    function = kernel
    pipelines: list[Pipeline] = []
    while True:
        pipelines += getattr(function, "triton_ext_pipelines", ())
        if isinstance(function, JITFunction):
            break
        function = getattr(function, "fn", None)
        if function is None:
            raise FailedError("input error", f"'{name}' is not a kernel that can be compiled")
    return Kernel(kernel, name, tuple(function.arg_names), tuple(configurations), tuple(pipelines))


def cases_of(text: str, grid: Sequence[int] | str | None = None) -> list[Case]:
    """Returns the launches that the function ``FILE.py:name`` makes.

    It returns a mapping, or an iterable of mappings: the arguments of the kernel by name, and ``grid``. If it has a
    parameter, it gets 0, as a seed.

    Args:
        text: the function.
        grid: where the launches have no ``grid``: theirs, or ``FILE.py:name`` of a tuple or a function of the
            arguments; None for the ``grid`` of the file, as ``triton-ext search`` takes it.

    Raises:
        FailedError: the function raised, or returned something else.
    """
    import torch

    path, _, name = text.rpartition(":")
    function = _named(text)
    if not callable(function):
        raise FailedError("input error", f"'{name}' is not a function")
    where: Any = grid
    if grid is None:
        with contextlib.suppress(FailedError):
            where = _named(f"{path}:grid")
    elif isinstance(grid, str):
        where = _named(grid)
    if isinstance(where, list):
        where = tuple(where)
    torch.manual_seed(0)
    try:
        made = function(0) if inspect.signature(function).parameters else function()
        cases = list(_cases(name, [made] if isinstance(made, Mapping) else made, where))
    except (MemoryError, FailedError):
        raise
    except (Exception, SystemExit) as error:
        raise FailedError("input error", f"{name}() raised {type(error).__name__}: {said(error)}") from error
    if not cases:
        raise FailedError("input error", f"{name}() returned no launch")
    return cases


def _named(text: str) -> Any:
    """Returns the object ``FILE.py:name``.

    Raises:
        FailedError: the file raised, or has no such name.
    """
    path, _, name = text.rpartition(":")
    try:
        return load_kernel(path, name)
    except TritonExtError as error:
        raise FailedError("input error", str(error).replace("has no kernel", "has no function")) from error


def _cases(name: str, made: Any, grid: Any) -> Iterator[Case]:
    example = 'return {"x": x, "y": y, "n": n, "BLOCK": 1024, "grid": (64,)}'
    if isinstance(made, str) or not isinstance(made, Iterable):
        made = [made]
    for number, arguments in enumerate(made, 1):
        if number > MOST_CASES:
            raise FailedError("input error", f"{name}() gives more than {MOST_CASES} launches", fix="give fewer")
        if not isinstance(arguments, Mapping) or not all(isinstance(key, str) for key in arguments):
            what = f"{name}(): expected the arguments of a launch by name, got {shown(arguments)}"
            raise FailedError("input error", what, fix=example)
        given = dict(arguments)
        where = given.pop("grid", grid)
        if where is None:
            raise FailedError("input error", f"{name}(): launch {number} has no grid", fix=f"{example}, or grid=[64]")
        shapes = ", ".join(f"{key} {tuple(value.shape)}" for key, value in given.items() if hasattr(value, "shape"))
        yield Case(given, where, f"launch {number} ({shapes})" if shapes else f"launch {number}")


def checked_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns `options` if they name no files: options of Triton's backends can name IR, libraries and outputs.

    Raises:
        FailedError: an option can name a file.
    """
    for name, value in (options or {}).items():
        if name in _FILES or (isinstance(value, str) and not _WORD.fullmatch(value)):
            raise FailedError("refused", f"option '{name}': options that name files are not permitted here")
    return dict(options or {})


def launch(kernel: Kernel, case: Case, options: Mapping[str, Any], *, warmup: bool = False) -> Any:
    """Launches `kernel`, or with `warmup` only compiles it, and returns Triton's ``CompiledKernel``.

    Raises:
        FailedError: an argument is missing, and the kernel is autotuned.
    """
    arguments = {**case.arguments, **options}
    if kernel.configurations and (missing := [name for name in kernel.parameters if name not in arguments]):
        found = "; ".join(map(str, kernel.configurations[:20]))
        raise FailedError(
            "input error",
            f"'{kernel.name}' is autotuned and '{missing[0]}' is not given; its configurations: {found}",
            fix="give the values of one of them with options",
        )
    return kernel.callable.run(grid=case.grid, warmup=warmup, **arguments)


def unedited_options(kernel: Kernel, case: Case, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options of the unedited kernel: none, or those of the candidate if the kernel cannot do without."""
    return {} if all(name in case.arguments for name in kernel.parameters) else dict(given)
