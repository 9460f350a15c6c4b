# SPDX-License-Identifier: Apache-2.0
"""The largest errors of libdevice's functions on the CPU, in units in the last place.

    PYTHONPATH=test .venv/bin/python benchmarks/cpu_libdevice.py

The functions, their arguments and their references are those of the tests (``backends/cpu/test/test_libdevice.py`` and
``test_libdevice_special.py``); the arguments do not change from run to run. A number that is missing was not measured:
the function calls the C library, which is also the reference.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
from mpmath import mp

from support import ROOT, modules
from support.cpu import libdevice_references
from triton_ext.backends import cpu

_TESTS = ROOT / "backends" / "cpu" / "test"
_COMMON, _SPECIAL = (modules.imported(_TESTS / f"test_libdevice{name}.py") for name in ("", "_special"))


def common(directory: Path) -> dict[str, list[float | None]]:
    """Returns the errors for f32 and f64 of the functions that are also in the C library."""
    kernels = _COMMON.kernels_in(directory)
    found: dict[str, list[float | None]] = {}
    for arity, names in _COMMON.ULP.items():
        for name in names:
            operands = _COMMON.samples(np.float32, arity)
            single = _COMMON.errors(_COMMON.run(kernels, name, *operands), _COMMON.exact(name, *operands)).max()
            found[name] = [single, None]
            if name in _COMMON.VECTORS64:
                x = _COMMON.samples_of_vectors64()
                reference = getattr(np, name)(x.astype(np.longdouble))
                found[name][1] = _COMMON.errors(_COMMON.run(kernels, name, x), reference).max()
    return found


def special(directory: Path) -> dict[str, list[float | None]]:
    """Returns the errors for f32 and f64 of the other functions, against multiple precision."""
    functions = _SPECIAL.FUNCTIONS
    arities = [(name, function.arity) for name, function in functions.items()]
    kernels = libdevice_references.kernels(directory / "special_kernels.py", arities)
    found: dict[str, list[float | None]] = {}
    for name, function in functions.items():
        found[name] = []
        for kind in _SPECIAL.KINDS:
            operands = _SPECIAL.samples(function, kind)
            out = libdevice_references.run(kernels, name, operands, kind)
            lanes = zip(*operands, strict=True)
            exact = (function.exact(*(mp.mpf(float(x)) for x in lane)) for lane in lanes)
            errors = (libdevice_references.error_in_ulp(a, b) for a, b in zip(out, exact, strict=True))
            found[name].append(max(errors))
    return found


def main() -> None:
    """Prints a line for each function: its name and the largest errors for f32 and f64."""
    warnings.simplefilter("ignore", RuntimeWarning)
    cpu.activate()
    with tempfile.TemporaryDirectory() as name:
        rows = {**common(Path(name)), **special(Path(name))}
    print(f"{'function':<16}{'f32':>10}{'f64':>10}")
    for function, errors in sorted(rows.items()):
        print(f"{function:<16}" + "".join(f"{'-' if error is None else f'{error:.3f}':>10}" for error in errors))


if __name__ == "__main__":
    main()
