# SPDX-License-Identifier: Apache-2.0
"""Reads the resources of a compiled kernel from its metadata and its binary, without a device.

Registers, spills and shared memory come from cuobjdump's summary of a cubin, or from the assembly of AMD and x86-64.
"""

from __future__ import annotations

import hashlib
import io
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

#: Kinds of instructions, by the beginning of their mnemonics; the first that fits counts.
_KINDS = {
    "matrix": ("HMMA", "IMMA", "QGMMA", "HGMMA", "IGMMA", "DMMA", "UTCMMA", "v_mfma", "v_wmma", "tdp", "vdpbf16"),
    "async copy": ("LDGSTS", "UBLKCP", "UTMALDG", "UTMASTG"),
    "shared": ("LDS", "STS", "LDSM", "STSM", "ATOMS", "ds_"),
    "local": ("LDL", "STL", "scratch_"),
    "global": ("LDG", "STG", "RED", "ATOM", "LD", "ST", "global_", "buffer_", "flat_"),
    "barrier": ("BAR", "DEPBAR", "WARPSYNC", "MEMBAR", "FENCE", "SYNCS", "s_barrier", "mfence", "sfence"),
    "branch": (
        "BRA",
        "BRX",
        "JMP",
        "CALL",
        "RET",
        "EXIT",
        "BSSY",
        "BSYNC",
        "s_branch",
        "s_cbranch",
        "j",
        "call",
        "ret",
    ),
    "float": ("F", "H", "D", "MUFU", "v_fma", "v_add_f", "v_mul_f", "vfm", "vfnm", "vadd", "vmul", "vsub", "vdiv"),
}
#: The kinds of instructions that are counted.
INSTRUCTIONS = (*_KINDS, "other")
_SASS = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)", re.MULTILINE)
_ASSEMBLY = re.compile(r"^\t([a-z][\w.]*)(?:\s|$)", re.MULTILINE)
_NVIDIA = {"registers": r"REG:(\d+)", "spills": r"STACK:(\d+)"}
_AMD = {"registers": r"\.vgpr_count:\s+(\d+)", "spills": r"\.vgpr_spill_count:\s+(\d+)"}


def figures_of(kernel: Any) -> dict[str, float]:
    """Returns the figures of a ``CompiledKernel`` by name; those that its target does not have are left out.

    ``shared`` and ``code_size`` are in bytes, ``registers`` and ``spills`` are for each thread (spills in bytes),
    ``instructions.KIND`` counts instructions of the binary.
    """
    found: dict[str, float] = {"shared": float(getattr(kernel.metadata, "shared", 0) or 0)}
    binary = kernel.kernel
    if isinstance(binary, bytes):
        found["code_size"] = float(_code_size(binary))
    texts = kernel.asm
    if "cubin" in texts:
        resources, pattern, text = _NVIDIA, _SASS, _dump(texts["cubin"])
    else:
        resources, pattern, text = _AMD, _ASSEMBLY, str(texts.get("amdgcn") or texts.get("asm") or "")
    found |= {name: float(match[1]) for name, wanted in resources.items() if (match := re.search(wanted, text))}
    found |= {f"instructions.{kind}": float(count) for kind, count in _counted(pattern, text).items()}
    return found


def binary_hash(kernel: Any) -> str:
    """Returns a hash of the binary and of the metadata that a launch depends on."""
    metadata = kernel.metadata._asdict()
    metadata.pop("hash", None)
    data = kernel.kernel
    text = data if isinstance(data, bytes) else str(data).encode()
    return hashlib.sha256(text + repr(sorted(metadata.items(), key=lambda pair: pair[0])).encode()).hexdigest()


def _counted(pattern: re.Pattern[str], text: str) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for mnemonic, number in Counter(pattern.findall(text)).items():
        if mnemonic.startswith("NOP"):
            continue
        kinds = (kind for kind, starts in _KINDS.items() if mnemonic.startswith(starts))
        counts[next(kinds, "other")] += number
    return dict(counts)


def _code_size(binary: bytes) -> int:
    """Returns the size of the executable sections of an ELF file; that of all bytes for another format."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.constants import SH_FLAGS
    from elftools.elf.elffile import ELFFile

    try:
        sections = list(ELFFile(io.BytesIO(binary)).iter_sections())
    except ELFError:
        return len(binary)
    return sum(s["sh_size"] for s in sections if s["sh_flags"] & SH_FLAGS.SHF_EXECINSTR) or len(binary)


def _dump(cubin: bytes) -> str:
    """Returns what Triton's cuobjdump prints for a cubin, resources and assembly; nothing if it fails."""
    from triton import knobs

    try:
        program = str(knobs.nvidia.cuobjdump.path)
        with tempfile.TemporaryDirectory(prefix="triton-ext-") as directory:
            file = Path(directory, "kernel.cubin")
            file.write_bytes(cubin)
            command = [program, "--dump-resource-usage", "-sass", str(file)]  # each run costs half a second
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, RuntimeError, subprocess.SubprocessError):
        return ""
    return done.stdout
