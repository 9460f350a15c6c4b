# SPDX-License-Identifier: Apache-2.0
"""Where kernels access memory in Triton's interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch


class LeavesError(Exception):
    """A kernel accesses memory outside of its tensors."""


class Watched:
    """The functions by which the interpreter accesses memory. Writes down from where to where they do so.

    Attributes:
        accessed: for each tensor with an access, the first element that was accessed and the one behind the last.
    """

    def __init__(self, functions: Any, memory: Mapping[str, torch.Tensor], undefined: float) -> None:
        """Watches accesses to `memory`. An atomic returns `undefined` in the lanes that its mask leaves out."""
        self.functions, self.memory, self.undefined = functions, memory, undefined
        self.accessed: dict[str, tuple[int, int]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.functions, name)

    def _note(self, pointers: np.ndarray, mask: np.ndarray) -> None:
        active = pointers[np.broadcast_to(mask, pointers.shape)].astype(np.int64)
        if not active.size:
            return
        for name, tensor in self.memory.items():
            ends = (int(active.min()), int(active.max()))
            first, last = ((end - tensor.data_ptr()) // tensor.element_size() for end in ends)
            if first >= 0 and last < tensor.numel():
                before = self.accessed.get(name, (first, last + 1))
                self.accessed[name] = min(first, before[0]), max(last + 1, before[1])
                return
        raise LeavesError

    def load(self, pointers: np.ndarray, mask: np.ndarray, *rest: object) -> Any:
        self._note(pointers, mask)
        return self.functions.load(pointers, mask, *rest)

    def store(self, pointers: np.ndarray, values: np.ndarray, mask: np.ndarray) -> None:
        self._note(pointers, mask)
        self.functions.store(pointers, values, mask)

    def atomic_rmw(
        self, kind: object, pointers: np.ndarray, values: np.ndarray, mask: np.ndarray, *rest: object
    ) -> Any:
        self._note(pointers, mask)
        # It exchanges only integers.
        bits = values.view(f"i{values.itemsize}") if kind == self.functions.RMW_OP.XCHG else values
        before = self.functions.atomic_rmw(kind, pointers, bits, mask, *rest).view(values.dtype)
        return np.where(mask, before, self.undefined).astype(before.dtype)

    def atomic_cas(self, pointers: np.ndarray, *rest: object) -> Any:
        self._note(pointers, np.ones_like(pointers, bool))
        return self.functions.atomic_cas(pointers, *rest)
