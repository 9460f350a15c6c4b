# SPDX-License-Identifier: Apache-2.0
"""libTritonExtLanguage.so (``infra/language``) in this process: builds operations where a kernel is translated.

It is a plugin of Triton, so its functions are methods of libtriton's ``ir.builder``, which take and return values;
what else an operation needs goes through ctypes, in MLIR's text form, to the same thread.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import BuildError, TritonExtError
from ..loading.library_bytes import in_memory, in_words, read_bytes
from ..support import resources


@dataclass(frozen=True)
class Description:
    """The description of an operation without its operands.

    Attributes:
        operation: its name, e.g. ``quant.scale``.
        attributes: name and MLIR's text of each.
        types: MLIR's text of each result type; None if the operation infers them.
        operand_groups: how many operands belong to each parameter of the declaration.
        result_groups: how many results belong to each value that the declaration returns.
        has_region: whether it has a region, in which the builder then is.
    """

    operation: str
    attributes: Sequence[tuple[str, str]]
    types: Sequence[str] | None
    operand_groups: Sequence[int]
    result_groups: Sequence[int] = ()
    has_region: bool = False


@functools.cache
def _load() -> tuple[ctypes.CDLL, str]:
    """The library and the digest of its bytes.

    Raises:
        BuildError: it does not load.
    """
    from triton._C.libtriton import ir

    path = resources.library_dir() / "libTritonExtLanguage.so"
    try:
        content = read_bytes(path)
        copy = in_memory(content)  # not the file, which a build replaces
        with _loading:
            library = ctypes.CDLL(copy, mode=os.RTLD_NOW)
            ir.builder.extend_with(copy)
    except (OSError, RuntimeError, TritonExtError) as error:
        raise BuildError(
            f"the builder of operations does not load: {in_words(error)}", fix="triton-ext build"
        ) from None
    texts, sizes = ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_int32)
    library.tritonExtLanguageDescribe.argtypes = (
        *(ctypes.c_char_p, ctypes.c_size_t, texts, ctypes.c_bool, ctypes.c_size_t, texts),
        *(ctypes.c_size_t, sizes, ctypes.c_size_t, sizes, ctypes.c_bool),
    )
    library.tritonExtLanguageResults.restype = ctypes.c_uint
    library.tritonExtLanguageChoose.argtypes = (ctypes.c_uint,)
    library.tritonExtLanguageBuilt.restype = ctypes.c_void_p
    library.tritonExtLanguageLeave.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
    return library, content.digest


_loading = threading.Lock()


def digest() -> str:
    """SHA-256 of the library's bytes.

    Raises:
        BuildError: it does not load.
    """
    return _load()[1]


def build(builder: Any, description: Description, operands: Sequence[Any]) -> list[Any]:
    """Builds the operation, verifies it unless it has a region, and returns its results.

    Args:
        builder: libtriton's builder, at whose insertion point the operation is built.
        description: all but the operands.
        operands: libtriton's values.

    Raises:
        ValueError: what is wrong with the operation, in MLIR's words.
        BuildError: the library does not load.
    """
    library = _load()[0]
    flat = [text for pair in description.attributes for text in pair]
    library.tritonExtLanguageDescribe(
        description.operation.encode(),
        len(description.attributes),
        _texts(flat),
        description.types is None,
        len(description.types or ()),
        _texts(description.types or ()),
        len(description.operand_groups),
        _sizes(description.operand_groups),
        len(description.result_groups),
        _sizes(description.result_groups),
        description.has_region,
    )
    first = builder.create_triton_ext_build(list(operands))
    results = [first] if library.tritonExtLanguageResults() else []
    for index in range(1, library.tritonExtLanguageResults()):
        library.tritonExtLanguageChoose(index)
        results.append(builder.create_triton_ext_take([]))
    return results


def built() -> int:
    """The operation that this thread built last, for `leave`."""
    return int(_load()[0].tritonExtLanguageBuilt() or 0)


def leave(builder: Any, operation: int, terminator: str) -> None:
    """Ends the region of `operation`, which `built` returned, and verifies it; the builder continues after it.

    Args:
        builder: libtriton's builder, which is in the region.
        operation: the operation.
        terminator: the operation that ends the region; empty if nothing does.

    Raises:
        ValueError: what is wrong with it, in MLIR's words.
    """
    _load()[0].tritonExtLanguageLeave(operation, terminator.encode())
    builder.create_triton_ext_leave([])


def _texts(texts: Sequence[str]) -> Any:
    return (ctypes.c_char_p * len(texts))(*(text.encode() for text in texts))


def _sizes(sizes: Sequence[int]) -> Any:
    return (ctypes.c_int32 * len(sizes))(*sizes)
