# SPDX-License-Identifier: Apache-2.0
"""Loads libTritonExtLLVM.so (``infra/llvm``), and runs LLVM passes with it on the module that Triton has made.

The module never becomes text for that: the library learns its address while Triton makes it.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import BuildError, TritonExtError
from ..loading.libraries import load_infra
from ..loading.library_bytes import in_memory, in_words, read_bytes
from ..support import resources

Receiver = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)
#: The result of a run that may have damaged the module.
_DAMAGED = 2
_UNSAFE = re.compile(r"[^\w.+\-/ ]")


class _Setting(ctypes.Structure):
    """The structure ``TritonExtLLVMSetting`` in ``infra/llvm/Run.h``."""

    _fields_ = (
        ("processor", ctypes.c_char_p),
        ("features", ctypes.c_char_p),
        ("fuses", ctypes.c_int),
        ("vectorizes_straight_line_code", ctypes.c_int),
        ("combines_vectors", ctypes.c_int),
        ("points", ctypes.c_char_p),
        ("entries", ctypes.POINTER(ctypes.c_void_p)),
        ("num_entries", ctypes.c_size_t),
    )


@dataclass(frozen=True)
class Setting:
    """How LLVM's passes run.

    Attributes:
        processor: LLVM's name of the processor; empty for no target machine, as in Triton's optimisation for NVIDIA.
        features: LLVM's features of the processor, e.g. ``+avx2,-fma``.
        enable_fp_fusion: whether ``a * b + c`` may be rounded once.
        vectorizes_straight_line_code: whether LLVM's SLP vectorizer runs in ``default<O...>``.
        combines_vectors: whether LLVM's pass ``vector-combine`` runs in ``default<O...>``.
        points: pairs of an extension point of the optimiser, e.g. ``vectorizer-start``, and the pipeline placed there.
        entries: the addresses of ``llvmGetPassPluginInfo`` of the libraries whose passes can be named.
    """

    processor: str = ""
    features: str = ""
    enable_fp_fusion: bool = False
    vectorizes_straight_line_code: bool = True
    combines_vectors: bool = True
    points: tuple[tuple[str, str], ...] = ()
    entries: tuple[int, ...] = ()

    def structure(self) -> ctypes.Structure:
        """Returns the setting for the library."""
        return _Setting(
            self.processor.encode(),
            self.features.encode(),
            self.enable_fp_fusion,
            self.vectorizes_straight_line_code,
            self.combines_vectors,
            "".join(f"{point}:{pipeline}\n" for point, pipeline in self.points).encode(),
            (ctypes.c_void_p * len(self.entries))(*self.entries),
            len(self.entries),
        )


@dataclass(frozen=True)
class Outcome:
    """The remarks and diagnostics of one run.

    Attributes:
        problem: why it failed; empty if it has not.
        remarks: the remarks of passes.
        damaged: whether the module can neither be used nor destroyed, because a pass crashed in it.
    """

    problem: str
    remarks: tuple[str, ...]
    damaged: bool


def library_digest() -> str:
    """Returns SHA-256 of the library's bytes, as hex digits."""
    return read_bytes(resources.library_dir() / "libTritonExtLLVM.so").digest


@functools.cache
def load() -> ctypes.CDLL:
    """Returns the library. libtriton has to be loaded.

    Raises:
        BuildError: it does not load.
    """
    try:
        load_infra()
        library = ctypes.CDLL(_copy(), mode=os.RTLD_NOW)
    except (OSError, TritonExtError) as error:
        raise BuildError(
            f"the runner of LLVM passes does not load: {in_words(error)}", fix="triton-ext build"
        ) from None
    pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    library.tritonExtLLVMCaptured.restype = pointer
    library.tritonExtLLVMPrint.argtypes = (pointer, Receiver)
    library.tritonExtLLVMCount.argtypes = (pointer,)
    library.tritonExtLLVMCount.restype = size
    library.tritonExtLLVMRun.argtypes = (pointer, text, ctypes.POINTER(_Setting), Receiver, Receiver)
    library.tritonExtLLVMOpt.argtypes = (text, size, text, text, ctypes.POINTER(_Setting), *[Receiver] * 3)
    library.tritonExtLLVMPassNames.argtypes = (Receiver,)
    return library


def _copy() -> str:
    return in_memory(
        read_bytes(resources.library_dir() / "libTritonExtLLVM.so")
    )  # not the file: a build may replace it


_loading = threading.Lock()


@functools.cache
def _prepare() -> Any:
    """Returns the function that prepares the context of a pass manager for `captured`."""
    from ..patches import plugin_module

    load()
    with _loading:
        plugin_module.bind(_copy())
        return plugin_module.take("triton_ext_capture_llvm")


def captured(to_module: Callable[..., Any], module: Any, *args: Any) -> tuple[Any, int]:
    """Returns ``to_module(module, ...)``, Triton's object for an LLVM module, and the address of that module.

    The address is valid as long as the object.

    Raises:
        TritonExtError: the address cannot be learned.
    """
    from triton._C.libtriton import ir

    _prepare()(ir.pass_manager(module.context), [])
    module.set_attr("triton_ext_llvm.capture", ir.builder(module.context).get_int32_attr(1))
    result = to_module(module, *args)
    address = load().tritonExtLLVMCaptured()
    if not address:
        raise TritonExtError("Triton's translation to LLVM does not call the dialects of a module's attributes")
    return result, address


def text_of(address: int) -> str:
    """Returns the text of the module at `address`."""
    texts: list[str] = []
    load().tritonExtLLVMPrint(address, receiver_into(texts))
    return texts[0]


def count(address: int) -> int:
    """Returns the number of instructions in the module at `address`."""
    return int(load().tritonExtLLVMCount(address))


def run(address: int, pipeline: str, setting: Setting) -> Outcome:
    """Runs a textual pipeline of LLVM passes on the module at `address`, in place, and verifies the module."""
    problems: list[str] = []
    remarks: list[str] = []
    result = load().tritonExtLLVMRun(
        address, pipeline.encode(), ctypes.byref(setting.structure()), receiver_into(problems), receiver_into(remarks)
    )
    return Outcome(problems[0], tuple(remarks[0].splitlines()), result == _DAMAGED)


def receiver_into(texts: list[str]) -> Any:
    """Returns a function for the library that appends each text that it is given to `texts`."""
    return Receiver(lambda text, size: texts.append(ctypes.string_at(text, size).decode(errors="replace")))


def element(argument: str, options: Sequence[str], lists: Sequence[str] = ()) -> str:
    """Returns a pass with its options as LLVM's textual pipelines write them: ``name<first=1;second=a|b>``.

    Args:
        argument: name of the pass.
        options: each ``name=value``, as MLIR spells them.
        lists: the names of the options that are lists.
    """

    def written(text: str) -> str:
        return _UNSAFE.sub(lambda match: "".join(f"%{byte:02x}" for byte in match[0].encode()), text)

    def one(option: str) -> str:
        name, _, value = option.partition("=")
        items = value.split(",") if name in lists else [value]
        return f"{name}={'|'.join(map(written, items))}"

    return argument + (f"<{';'.join(map(one, options))}>" if options else "")
