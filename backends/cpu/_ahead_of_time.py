# SPDX-License-Identifier: Apache-2.0
"""Compiles kernels to one shared library with a C header, which need neither Python nor Triton."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triton._C.libtriton import llvm
from triton.backends.compiler import GPUTarget

from triton_ext.compilation.requests import KernelRequest, request_for
from triton_ext.errors import TritonExtError
from triton_ext.support.scratch import scratch_dir
from triton_ext.support.storage import write_whole

from . import _exports, _library, _machine_code
from ._exports import Export, Variant

#: The CPUs that a library is for if the user names none: every x86-64, with AVX2, with AVX-512.
CPUS = ("x86-64", "x86-64-v3", "x86-64-v4")

#: The libraries of the system that the runtime and the kernels use. libtriton, which is in this process, needs them.
_SYSTEM = ("libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2")


@dataclass(frozen=True)
class Kernel:
    """A kernel to compile.

    Attributes:
        file: ``FILE.py:kernel``, or the kernel itself.
        signature: type or value of each argument, as `triton_ext.describe` takes it.
        name: the name of the C function; empty for that of the kernel.
    """

    file: Any
    signature: str | Mapping[str, object]
    name: str = ""


@dataclass
class _Code:
    """The objects of a library, by file name."""

    files: dict[str, str] = field(default_factory=dict)

    def add(self, symbol: str, kernel: Any) -> None:
        """Adds the assembly of a compiled kernel; its function gets the name `symbol`, everything else is local."""
        text = re.sub(r"(?m)^\s*\.globl\s+(\S+).*$", r"\t.local\t\1", kernel.asm["asm"])
        self.files[symbol] = f'{text}\n\t.globl\t{symbol}\n\t.set\t{symbol}, "{kernel.metadata.name}"\n'


def compile_library(
    kernels: Sequence[Kernel],
    output: Path,
    header: Path,
    cpus: Sequence[str] = CPUS,
    options: Mapping[str, Any] | None = None,
) -> None:
    """Compiles kernels to the shared library `output`, and writes the C header `header`.

    Args:
        kernels: the kernels.
        output: the library.
        header: the header.
        cpus: LLVM's names of CPUs, with features to add or to leave out (``haswell;-fma``). The library has code for
            each, and chooses when a function is first called.
        options: options of the backend, e.g. ``{"debug": True}`` for ``tl.device_assert``.

    Raises:
        TritonExtError: a kernel cannot be found or compiled, a signature does not fit, C has no type for an argument,
            LLVM does not know a CPU, or a file cannot be written. Then neither file is changed.
    """
    for path in (output, header):
        if not path.parent.is_dir() or path.is_dir():
            raise TritonExtError(f"{path} cannot be written", fix="name a file in a directory that exists")
    if output.absolute() == header.absolute():
        raise TritonExtError(f"{output} is named for the library and for the header", fix="two names")
    targets = [_target(cpu) for cpu in dict.fromkeys(cpus)]
    code = _Code()
    exports = [_export(kernel, number, targets, options or {}, code) for number, kernel in enumerate(kernels)]
    names = _exports.names(exports)
    for name in names:
        if names.count(name) > 1:
            raise TritonExtError(f"two functions would have the name '{name}'", fix="--name for each kernel")
    library = _linked(code, exports, output.name)
    text = _exports.header(exports, output.name, header.name).encode()
    before = output.read_bytes() if output.is_file() else None
    try:
        write_whole(output, library, mode=None)
        try:
            write_whole(header, text)
        except OSError:
            if before is None:
                output.unlink()
            else:
                write_whole(output, before)
            raise
    except OSError as error:
        raise TritonExtError(f"{error.filename or output} cannot be written: {error.strerror or error}") from None


def _target(cpu: str) -> tuple[str, GPUTarget, int]:
    """Returns `cpu`, its target, and the features that a processor must have to run its code.

    Raises:
        TritonExtError: LLVM does not know it, or the runtime cannot ask for one of its features.
    """
    compiler = _library.compiler()
    name, _, features = cpu.partition(";")
    if name in ("", "native"):
        name, features = compiler.host()
    elif not compiler.has(name, features, "+64bit"):
        raise TritonExtError(
            f"'{cpu}' is not an x86-64 CPU that LLVM knows", fix="--arch x86-64-v3, or LLVM's name of a CPU, as haswell"
        )
    try:
        return (
            cpu,
            GPUTarget("cpu", f"{name};{features}" if features else name, 1),
            compiler.requirements(name, features),
        )
    except RuntimeError as error:
        raise TritonExtError(
            f"'{cpu}' has the feature {error}, for which a library cannot ask the processor",
            fix=f"--arch '{cpu}{',' if ';' in cpu else ';'}-{error}'",
        ) from None


def _export(
    kernel: Kernel, number: int, targets: Sequence[tuple[str, GPUTarget, int]], options: Mapping[str, Any], code: _Code
) -> Export:
    """Compiles `kernel` for each target, and adds its code to `code`."""
    variants: list[Variant] = []
    stored: list[int] = []
    request: KernelRequest
    for place, (cpu, target, requirements) in enumerate(targets):
        request = request_for(kernel.file, target, kernel.signature, options)
        name = kernel.name or request.kernel
        if not variants:
            _exports.check_name(name)
            _exports.arguments_of(request.source, ())  # before the compilation, which takes longer
        compiled = _compiled(request)
        symbol = f"triton_ext_cpu_kernel{number}_{place}"
        code.add(symbol, compiled)
        metadata = compiled.metadata
        variants.append(Variant(cpu, symbol, requirements, metadata.scratch, metadata.together))
        stored = compiled.metadata.stored_slots
    variants.sort(key=lambda variant: -variant.requirements.bit_count())
    constants = ", ".join(f"{_key(request, key)}={value!r}" for key, value in request.source.constants.items())
    where = str(kernel.file) if isinstance(kernel.file, str) else request.kernel
    source = f"{Path(where.rpartition(':')[0]).name}:{request.kernel}" if ":" in where else where
    arguments = _exports.arguments_of(request.source, stored)
    return Export(name, source, arguments, constants.replace("*/", "* /"), tuple(variants))


def _key(request: KernelRequest, key: Any) -> str:
    return str(list(request.source.signature)[key[0]]) if isinstance(key, tuple) else str(key)


def _compiled(request: KernelRequest) -> Any:
    """Returns the compiled kernel of `request`.

    Raises:
        TritonExtError: it cannot be compiled, or it needs memory that only a launch in Python provides.
    """
    import triton
    from triton.compiler.errors import CompilationError

    if isinstance(request.source, str):
        raise TritonExtError(f"{request.source} is IR, which does not name its arguments", fix="FILE.py:KERNEL")
    try:
        kernel = triton.compile(request.source, target=request.target, options=dict(request.options))
    except (CompilationError, RuntimeError, ValueError) as error:
        if isinstance(error, TritonExtError):
            raise
        # Triton's error shows the source between the place and the cause.
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        problem = " ".join(dict.fromkeys((lines[0], lines[-1])))
        raise TritonExtError(f"'{request.kernel}' does not compile for {request.target.arch}: {problem}") from error
    if kernel.metadata.profile_scratch_size:
        raise TritonExtError(
            f"'{request.kernel}' records what it does, for which it needs Python",
            fix="compile it without the pass that adds this",
        )
    return kernel


def _linked(code: _Code, exports: Sequence[Export], name: str) -> bytes:
    compiler = _library.compiler()
    if not _library.standalone_path().is_file():
        raise TritonExtError(f"{_library.standalone_path()} is missing", fix="triton-ext build cpu")
    loaded = _loaded()
    with scratch_dir("triton-ext-cpu-") as scratch:
        objects = [scratch / "exports.o"]
        text = _exports.llvm_ir(exports)
        objects[0].write_bytes(llvm.translate_to_asm(text, _machine_code.TRIPLE, "x86-64", "", [], False, True, False))
        for symbol, assembly in code.files.items():
            objects.append(scratch / f"{symbol}.o")
            # The assembler takes every instruction, whatever the CPU; which ones are used has been decided.
            compiler.assemble(assembly, "x86-64", "", objects[-1])
        script = scratch / "exports.txt"
        script.write_text(f"{{ global: {' '.join(f'{name};' for name in _exports.names(exports))} local: *; }};\n")
        library = scratch / "library.so"
        options: list[str | Path] = [
            "-soname",
            name,
            "-z",
            "defs",
            "-z",
            "nodelete",
            "--version-script",
            script,
            "--as-needed",
        ]
        try:
            compiler.link(library, *options, *objects, _library.standalone_path(), *loaded)
        except RuntimeError as error:
            raise TritonExtError(str(error)) from error
        return library.read_bytes()


def _loaded() -> list[str]:
    """Returns the paths of the libraries `_SYSTEM`, which are loaded in this process."""
    files = {"/" + line.partition("/")[2] for line in Path("/proc/self/maps").read_text().splitlines()}
    found = []
    for name in _SYSTEM:
        # A file may be named by its full version, and the name without it is a link: libstdc++.so.6.0.30.
        path = next((file for file in sorted(files) if f"{Path(file).name}.".startswith(f"{name}.")), None)
        if path is None:
            raise TritonExtError(f"{name} is not loaded in this process, so the library cannot be linked to it")
        found.append(path)
    return found
