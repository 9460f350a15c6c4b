# SPDX-License-Identifier: Apache-2.0
"""`read`: the layout that an attribute means for a shape, as libtriton computes it."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from ..errors import TritonExtError
from ..support.closest import closest
from . import dialects, library
from .errors import LayoutError
from .layout import Layout, check_sizes, linear_of

_ALIAS = re.compile(r"^(#[\w$-]+) = (?!loc)(.*)$", re.MULTILINE)
_UNREGISTERED = re.compile(r'#"(\w+)"<.*attribute created with unregistered dialect', re.DOTALL)
_NAME = re.compile(r"#[A-Za-z_$][\w$-]*(?![\w.$-])")


def read(text: str, shape: Sequence[int], *, module: str | None = None) -> Layout:
    """Returns the layout that an attribute means for a tensor or a buffer of a shape.

    Triton parses the attribute and makes it linear (``toLinearLayout`` in ``LinearLayoutConversions.h``), so any
    attribute works that implements Triton's layout interfaces. One of an extension's dialect, such as
    ``#my_dialect.my_layout<...>``, loads the extension.

    Args:
        text: the attribute, e.g. ``#ttg.blocked<{...}>``; or its name in `module`, e.g. ``#blocked``.
        shape: the shape in elements: powers of two. For a shared layout it is the shape of the allocation.
        module: TTGIR that defines the names, such as ``kernel.asm["ttgir"]``.

    Raises:
        LayoutError: the attribute does not parse, is not a layout, or does not fit the shape; or nobody has its
            dialect, or the extension that has it cannot be used.
    """
    check_sizes({f"dim{i}": size for i, size in enumerate(shape)})
    if not shape:
        raise LayoutError("the shape is empty; a layout has at least one dimension")
    complete = _complete(text.strip(), module)
    try:
        dialects.load(complete)
    except TritonExtError as error:
        raise LayoutError(str(error)) from error
    try:
        return _read(complete, tuple(shape))
    except LayoutError as error:
        unknown = _UNREGISTERED.search(str(error))
        if unknown is None:
            raise
        problem = f"neither Triton nor an extension has the dialect '{unknown[1]}'"
        raise LayoutError(problem, fix="triton-ext list shows extensions") from None


def aliases(module: str) -> dict[str, str]:
    """Returns the attributes that a module in MLIR's syntax defines by name, e.g. ``#blocked``, as they are written."""
    return dict(_ALIAS.findall(module))


def resolved(text: str, defined: dict[str, str]) -> str:
    """Returns `text` with the names that `defined` has replaced by what they stand for."""
    for _ in range(len(defined) + 1):
        replaced = _NAME.sub(lambda match: defined.get(match[0], match[0]), text)
        if replaced == text:
            return text
        text = replaced
    raise LayoutError(f"the names in {text[:80]} are defined by each other")


def _complete(text: str, module: str | None) -> str:
    defined = aliases(module or "")
    text = resolved(text, defined)
    missing = _NAME.search(text)
    if missing:
        guess = closest(missing[0], defined)
        known = ", ".join(sorted(defined)) or "none"
        hint = f"; did you mean {guess}?" if guess else ""
        raise LayoutError(
            f"{missing[0]} is not defined{hint} (defined: {known})", fix="pass the TTGIR that defines it as module="
        )
    if "\n" in text or not text.startswith("#"):
        raise LayoutError(f"{text[:60]!r} is not an attribute such as #ttg.blocked<{{...}}>")
    return text


@functools.lru_cache(maxsize=1024)
def _read(text: str, shape: tuple[int, ...]) -> Layout:
    found = library.read(f"module attributes {{triton_ext.layout = {text}}} {{}}", shape)
    padding = tuple((interval, pad) for interval, pad in found["padding"])
    return Layout(linear_of(found["linear"]), found["kind"], found["text"], padding)
