# SPDX-License-Identifier: Apache-2.0
"""Wraps ``CompiledKernel._init_handles``, which makes a kernel's launcher: extensions see launches of their kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Self

from .table import differs, expected

#: What launches a kernel: takes the grid's three numbers, the stream, the function, two kinds of metadata, two hooks,
#: and the kernel's arguments.
Launch = Callable[..., None]

#: The number of arguments of a launch before those of the kernel.
BEFORE_ARGUMENTS = 9

#: The attribute of a ``CompiledKernel`` that says how many wrappers were asked.
_ASKED = "_triton_ext_asked"

_wrappers: list[Callable[[Any, Launch], Launch | None]] = []
_outer: list[Callable[[Any, Launch], Launch | None]] = []


class _Wrapped(functools.partial[None]):
    """A launcher that replaces another one and has its attributes. Each launch calls it, and a `partial` is C."""

    _launcher: Any

    def __new__(cls, launcher: Any, launch: Launch) -> Self:
        """Returns what calls `launch`, and has the attributes of `launcher`."""
        self = super().__new__(cls, launch)
        self._launcher = launcher
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._launcher, name)


def wrap_launches(wrapper: Callable[[Any, Launch], Launch | None], *, outer: bool = False) -> None:
    """Has `wrapper` asked once for each kernel, when its launcher is made, and thus before its first launch.

    A launch of any other kernel costs nothing more. A second call with the same function does nothing.

    Args:
        wrapper: takes the ``CompiledKernel`` and the function that launches it, and returns a function to call instead,
            with the same arguments; None to leave the kernel as it is.
        outer: whether that function is called around those of the wrappers that are not `outer`.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    wrappers = _outer if outer else _wrappers
    if wrapper not in wrappers:
        wrappers.append(wrapper)
    _wrap()


def launcher_of(kernel: Any) -> Launch:
    """Returns the function that launches a ``CompiledKernel``, without its wrappers."""
    run: Any = kernel.run
    while isinstance(run, _Wrapped):
        run = run._launcher
    launch: Launch = run
    return launch


@functools.cache
def _wrap() -> None:
    from triton.compiler import compiler

    kernel: Any = expected("kernel_launches", compiler, "CompiledKernel")
    make = expected("kernel_launches", kernel, "_init_handles", ("self",))
    if not isinstance(getattr(kernel, "run", None), property):
        raise differs("kernel_launches", "CompiledKernel.run is not a property that returns the launcher")

    @functools.wraps(make)
    def make_and_wrap(self: Any) -> None:
        make(self)
        asked = len(_wrappers) + len(_outer)
        # Triton calls this at each launch.
        if self.module is None or isinstance(self._run, _Wrapped) or vars(self).get(_ASKED) == asked:
            return
        vars(self)[_ASKED] = asked
        for wrapper in (*_wrappers, *_outer):
            inner = self._run.func if isinstance(self._run, _Wrapped) else self._run
            if (launch := wrapper(self, inner)) is not None:
                self._run = _Wrapped(self._run, launch)

    kernel._init_handles = make_and_wrap
