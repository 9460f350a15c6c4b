# SPDX-License-Identifier: Apache-2.0
"""``kernel.asm["asm"]``, the assembly of a kernel, which is made from its LLVM IR when somebody asks for it.

The library of a kernel is made from the LLVM IR without assembly in between, unless somebody may look at the stage
``asm`` or change it while the kernel is compiled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from triton import knobs
from triton.compiler.compiler import AsmDict

from triton_ext.pipeline import hook

if TYPE_CHECKING:
    _Base = dict[str, Any]
else:
    _Base = AsmDict


def is_wanted(ir_override: str | None) -> bool:
    """Returns whether somebody may look at the stage ``asm`` of a compilation, or change its result.

    Args:
        ir_override: the file that replaces the result of a stage, by its suffix; None if none does.
    """
    options = knobs.compilation
    return bool(
        hook.is_watched(("ttir", "cpuir", "llir"), "asm")
        or options.dump_ir
        or options.override
        or (ir_override and ir_override.endswith(".asm"))
    )


class _Texts(_Base):
    """The value of ``kernel.asm``. Its value for ``asm`` is None until a method that returns values is called."""

    _make: Any = None

    def __getitem__(self, key: str) -> Any:
        value = super().__getitem__(key)
        if value is None and key == "asm":
            value = self[key] = self._make()
        return value

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 - that would call itself

    def pop(self, key: str, *default: Any) -> Any:
        self.get(key)
        return super().pop(key, *default)

    def items(self) -> Any:
        self.get("asm")
        return super().items()

    def values(self) -> Any:
        self.get("asm")
        return super().values()

    def __iter__(self) -> Iterator[str]:  # without it, dict(texts) would copy the None
        return super().__iter__()

    def __reduce__(self) -> tuple[Any, ...]:  # `_make` cannot be pickled
        return AsmDict, (dict(self),)


def offer_assembly(kernel: Any) -> None:
    """Gives ``kernel.asm`` the key ``asm`` if the kernel, a ``CompiledKernel``, was compiled without that stage."""
    if "asm" in kernel.asm or "llir" not in kernel.asm:
        return
    metadata, llir = kernel.metadata, kernel.asm["llir"]

    def make() -> str:
        from triton.compiler import make_backend

        text: str = make_backend(metadata.target).assembly(llir)
        return text

    texts = _Texts()
    for key, value in kernel.asm.items():
        texts.update({"asm": None, key: value} if key == "so" else {key: value})
    texts._make = make
    kernel.asm = texts
