# SPDX-License-Identifier: Apache-2.0
"""What a compiled kernel needs: registers, spills, memory, code. No GPU is needed to read it."""

from __future__ import annotations

import re
from typing import Any

#: What AMD's assembler text says of a kernel, and how it is called here.
_AMD = {
    "vgpr_count": "vector registers",
    "sgpr_count": "scalar registers",
    "agpr_count": "accumulation registers",
    "vgpr_spill_count": "spilled vector registers",
    "sgpr_spill_count": "spilled scalar registers",
    "private_segment_fixed_size": "scratch bytes",
}


def resources(kernel: Any) -> dict[str, int]:
    """Returns the resources of a ``CompiledKernel`` by name."""
    metadata = kernel.metadata
    found = {"shared memory bytes": int(metadata.shared), "warps": int(metadata.num_warps)}
    if tensor_memory := int(getattr(metadata, "tmem_size", 0) or 0):
        found["tensor memory columns"] = tensor_memory
    if "amdgcn" in kernel.asm:
        for name, shown in _AMD.items():
            if match := re.search(rf"\.{name}:\s*(\d+)", kernel.asm["amdgcn"]):
                found[shown] = int(match[1])
    if binary := next((value for value in kernel.asm.values() if isinstance(value, bytes)), None):
        found |= _of_elf(binary)
    return found


def _of_elf(binary: bytes) -> dict[str, int]:
    """Returns what the sections of an ELF file say: the size of the code; for NVIDIA registers and local memory."""
    import io

    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        sections = list(ELFFile(io.BytesIO(binary)).iter_sections())
    except (ELFError, ValueError):
        return {}
    code = [section for section in sections if section.name.startswith(".text") and section["sh_size"]]
    found = {"code bytes": sum(section["sh_size"] for section in code)}
    if any(section.name.startswith(".nv.info") for section in sections):
        # ptxas writes the number of registers into the upper byte of the section's information.
        found["registers"] = max((section["sh_info"] >> 24 for section in code), default=0)
    return found


def in_words(found: dict[str, int], before: dict[str, int] | None = None) -> str:
    """Returns a line for each resource, with the change from `before`."""
    lines = []
    for name, value in found.items():
        old = None if before is None else before.get(name)
        change = f" (unedited: {old:,})" if old is not None and old != value else ""
        lines.append(f"  {name}: {value:,}{change}")
    return "\n".join(lines)
