# SPDX-License-Identifier: Apache-2.0
"""The knobs of LLVM: options that LLVM reads from the kernel itself.

An option of LLVM's command line is one of the process: it acts on every kernel that is compiled at that time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_ext.pipeline.records import StageRecord
from triton_ext.searching.knobs import Knob, Value

#: By option: the values to try with the default, the limits, the backends (None for all), the meaning.
_OPTIONS: dict[str, tuple[tuple[Value, ...], tuple[int, int] | None, tuple[str, ...] | None, str]] = {
    "unroll": (
        (0, 1, 2, 4, 8),
        (0, 1024),
        None,
        "how often LLVM unrolls innermost loops, 1 for not at all; 0: LLVM decides",
    ),
    "vector_width": (
        (0, 256, 512),
        (0, 512),
        ("cpu",),
        "the most bits of a vector in registers; 0: as the processor has",
    ),
    "small": ((False, True), None, None, "whether LLVM prefers small code to fast code"),
    "vectorize": ((True, False), None, None, "whether LLVM may vectorize loops of scalars"),
}


def knobs(stages: Sequence[StageRecord], backend: str) -> Iterator[Knob]:  # noqa: ARG001 - as for all passes
    """Yields a knob for each option that `backend` has; the stage ``llvm`` is among `stages`."""
    for name, (choices, limits, backends, meaning) in _OPTIONS.items():
        if backends is not None and backend not in backends:
            continue
        edits = (f"llvm: at_start(hint_llvm{{{name.replace('_', '-')}={str(c).lower()}}})" for c in choices[1:])
        yield Knob(
            f"llvm.{name}",
            "llvm option",
            type(choices[0]).__name__,
            choices,
            choices[0],
            meaning,
            "rounding",  # other code may let LLVM fuse other multiplications and additions
            low=limits[0] if limits else None,
            high=limits[1] if limits else None,
            place="llvm start",
            texts=("", *edits),
        )
