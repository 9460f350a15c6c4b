# SPDX-License-Identifier: Apache-2.0
"""``tx.builtin.<group>.<pass>(...)``: the passes of libtriton as values that a `Pipeline` can place.

The groups are those of libtriton: ``common``, ``ttir``, ``ttgpuir``, ``gluon``, ``convert`` and ``llvmir``. The passes
of one backend are below ``nvidia`` and ``amd``, e.g. ``tx.builtin.nvidia.ttnvgpuir.fence_insertion(90)``.
``tx.builtin.llvm("function(instcombine,gvn)")`` runs passes of LLVM, in the stage ``llvm``.
"""

from __future__ import annotations

from .errors import PipelineError
from .pipeline.builtin_passes import BuiltinFactory, builtin_names, find_builtin
from .pipeline.llvm_passes import NAME, LLVMFactory


class BuiltinPasses:
    """One group of built-in passes, as attributes."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def __getattr__(self, name: str) -> BuiltinPasses | BuiltinFactory:
        if name.startswith("__"):
            raise AttributeError(name)
        full = self._prefix + name
        if any(other.startswith(f"{full}.") for other in builtin_names()):
            return BuiltinPasses(f"{full}.")
        try:
            return BuiltinFactory(full, find_builtin(full))
        except PipelineError as error:
            raise AttributeError(str(error)) from None

    def __dir__(self) -> list[str]:
        return sorted(
            {n.removeprefix(self._prefix).split(".")[0] for n in builtin_names() if n.startswith(self._prefix)}
        )

    def __repr__(self) -> str:
        return f"<built-in passes {self._prefix}*: {', '.join(dir(self))}>"


def __getattr__(name: str) -> BuiltinPasses | BuiltinFactory | LLVMFactory:
    if name == NAME:
        return LLVMFactory()
    return getattr(BuiltinPasses(""), name)  # type: ignore[no-any-return]


def __dir__() -> list[str]:
    return sorted([*dir(BuiltinPasses("")), NAME])
