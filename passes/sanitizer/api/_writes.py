# SPDX-License-Identifier: Apache-2.0
"""Follows what torch itself allocates and writes in a block, so that only kernels' reads of the rest are findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.utils._pytree import tree_leaves

from triton_ext.support.torch_operators import Following

if TYPE_CHECKING:
    from ._shadows import Shadows


def follow_writes(shadows: Shadows) -> Following:
    """Returns a mode of torch in which `shadows` learns what operators of this thread allocate and write."""
    return _Writes(shadows)


class _Writes(Following):
    def __init__(self, shadows: Shadows) -> None:
        super().__init__()
        self._shadows = shadows

    def called(self, operator: Any, args: Any, kwargs: Any) -> Any:
        import torch

        from ._shadows import allocates

        result = operator(*args, **kwargs)
        name = operator._schema.name.removeprefix("aten::")
        arguments = enumerate(operator._schema.arguments)
        given = [(one, args[i] if i < len(args) else kwargs.get(one.name)) for i, one in arguments]
        for argument, value in given:
            if argument.alias_info is not None and argument.alias_info.is_write:
                for one in tree_leaves(value):
                    if isinstance(one, torch.Tensor):
                        self._shadows.written(one)
        aliases = any(one.alias_info is not None for one in operator._schema.returns)
        for one in tree_leaves(result):
            if isinstance(one, torch.Tensor) and not aliases:
                if allocates(name):
                    self._shadows.allocated(one)
                else:
                    self._shadows.written(one)
        return result
