# SPDX-License-Identifier: Apache-2.0
"""Follows what torch itself allocates and writes in a block, so that only kernels' reads of the rest are findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

if TYPE_CHECKING:
    from ._shadows import Shadows


def follow_writes(shadows: Shadows) -> TorchDispatchMode:
    """Returns a mode of torch in which `shadows` learns what operators of this thread allocate and write."""
    return _Writes(shadows)


class _Writes(TorchDispatchMode):
    def __init__(self, shadows: Shadows) -> None:
        super().__init__()
        self._shadows = shadows

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        import torch

        from ._shadows import allocates

        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        name = func._schema.name.removeprefix("aten::")
        given = [
            (one, args[i] if i < len(args) else kwargs.get(one.name)) for i, one in enumerate(func._schema.arguments)
        ]
        for argument, value in given:
            if argument.alias_info is not None and argument.alias_info.is_write:
                for one in tree_leaves(value):
                    if isinstance(one, torch.Tensor):
                        self._shadows.written(one)
        aliases = any(one.alias_info is not None for one in func._schema.returns)
        for one in tree_leaves(result):
            if isinstance(one, torch.Tensor) and not aliases:
                if allocates(name):
                    self._shadows.allocated(one)
                else:
                    self._shadows.written(one)
        return result
