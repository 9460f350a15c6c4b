# SPDX-License-Identifier: Apache-2.0
"""Follows what torch itself allocates and writes in a block, so that only kernels' reads of the rest are findings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch.utils._python_dispatch import _get_current_dispatch_mode_stack
from torch.utils._pytree import tree_leaves

from triton_ext.support.torch_operators import Following

if TYPE_CHECKING:
    from ._shadows import Shadows


def follow_writes(shadows: Shadows) -> Callable[[], None]:
    """Has `shadows` learn what operators of this thread allocate and write, until what this returns is called."""
    mode = _Writes(shadows)
    _leave_ended()
    mode.__enter__()  # type: ignore[no-untyped-call]

    def end() -> None:
        mode.shadows = None
        _leave_ended()

    return end


def _leave_ended() -> None:
    """Takes the modes of this thread that have ended from torch's stack.

    A mode that leaves takes the top of the stack off, whatever it is, and restores what was noted when it was entered.
    So one that ends below others stays, and does nothing.
    """
    for mode in reversed(_get_current_dispatch_mode_stack()):
        if getattr(mode, "_mode_key", None) is not None:  # one of torch, which is not on the stack of the others
            continue
        if not isinstance(mode, _Writes) or mode.shadows is not None:
            break
        mode.__exit__(None, None, None)  # type: ignore[no-untyped-call]


class _Writes(Following):
    def __init__(self, shadows: Shadows) -> None:
        super().__init__()
        #: None once the block has ended.
        self.shadows: Shadows | None = shadows

    def called(self, operator: Any, args: Any, kwargs: Any) -> Any:
        import torch

        from ._shadows import allocates

        result = operator(*args, **kwargs)
        if (shadows := self.shadows) is None:
            return result
        name = operator._schema.name.removeprefix("aten::")
        arguments = enumerate(operator._schema.arguments)
        given = [(one, args[i] if i < len(args) else kwargs.get(one.name)) for i, one in arguments]
        for argument, value in given:
            if argument.alias_info is not None and argument.alias_info.is_write:
                for one in tree_leaves(value):
                    if isinstance(one, torch.Tensor):
                        shadows.written(one)
        aliases = any(one.alias_info is not None for one in operator._schema.returns)
        for one in tree_leaves(result):
            if isinstance(one, torch.Tensor) and not aliases:
                if allocates(name):
                    shadows.allocated(one)
                else:
                    shadows.written(one)
        return result
