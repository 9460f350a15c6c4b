# SPDX-License-Identifier: Apache-2.0
"""Results of libdevice's functions in exact or in multiple precision, and kernels that call the functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import triton
import triton.language.extra.cuda.libdevice as declarations
from mpmath import mp

from support import modules

# Binary digits enough for the arguments of exponentials, which are squares of f64.
mp.prec = 300

KERNEL = """
@triton.jit
def kernel_{name}(a, b, c, d, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i, mask=i < n)
    y = tl.load(b + i, mask=i < n)
    z = tl.load(c + i, mask=i < n)
    w = tl.load(d + i, mask=i < n)
    tl.store(out + i, libdevice.{name}({operands}), mask=i < n)
"""


@dataclass(frozen=True)
class Function:
    """A function and its bounds.

    Attributes:
        bounds: in ulp, for f32 and f64.
        exact: the function in multiple precision.
        special: arguments that are zeros, infinite, NaN, or at the ends of the domain, with the results.
        domain: random arguments are in it.
        arity: the number of operands.
    """

    bounds: tuple[float, float]
    exact: Callable[..., Any]
    special: list[tuple[Any, float]]
    domain: tuple[float, float] = (-np.inf, np.inf)
    arity: int = 1


def overloads() -> list[tuple[str, tuple[str, ...], str]]:
    """Returns the name, the types of the operands, and the type of the result of each function that Triton declares."""
    found = []
    for function in ast.parse(Path(declarations.__file__).read_text()).body:
        for table in ast.walk(function):
            if isinstance(function, ast.FunctionDef) and isinstance(table, ast.Dict):
                for operands, result in zip(table.keys, table.values, strict=True):
                    assert operands is not None
                    kinds = [node.value for node in ast.walk(operands) if isinstance(node, ast.Constant)]
                    _, returned = (node.value for node in ast.walk(result) if isinstance(node, ast.Constant))
                    found.append((function.name, tuple(map(str, kinds)), str(returned)))
    return found


def kernels(path: Path, arities: Iterable[tuple[str, int]]) -> ModuleType:
    """Returns a module with a kernel for each function. `path` is its file, because Triton reads their source."""
    text = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n"
    for name, arity in arities:
        text += KERNEL.format(name=name, operands=", ".join("xyzw"[:arity]))
    path.write_text(text)
    return modules.imported(path)


def run(module: ModuleType, name: str, operands: list[np.ndarray], out: Any) -> np.ndarray:
    """Returns the result, of type `out`, of the function `name`, from the module that `kernels` has returned."""
    count = len(operands[0])
    result = np.zeros(count, out)
    getattr(module, f"kernel_{name}")[(triton.cdiv(count, 512),)](*[*operands * 4][:4], result, count, BLOCK=512)
    return result


def bracketed(near: Any, compare: Callable[[Fraction], Fraction | int], mode: str) -> Any:
    """Returns a number that is rounded in a direction.

    Args:
        near: the number, rounded in any way; its type is that of the result.
        compare: returns the sign of the number minus its argument.
        mode: ``rz``, ``rd`` or ``ru``.
    """
    kind = type(near)
    low, high = kind(-np.inf), kind(np.inf)
    limit = np.finfo(kind).max
    below = kind(np.clip(near, -limit, limit))
    while below > low and compare(Fraction(float(below))) < 0:
        below = np.nextafter(below, low)
    while below < high:
        above = np.nextafter(below, high)
        if not np.isfinite(above) or compare(Fraction(float(above))) < 0:
            break
        below = above
    if np.isfinite(below) and compare(Fraction(float(below))) == 0:
        return below
    above = np.nextafter(below, high)
    # A zero on the way to a negative number has its sign.
    above = kind(-0.0) if above == 0 else above
    toward_zero = below if below >= 0 else above
    return {"rd": below, "ru": above, "rz": toward_zero}[mode]


def inverse_of_erfc(complement: Any) -> Any:
    """Returns y >= 0 with erfc(y) = `complement` <= 1, by Newton's method for the logarithm in multiple precision."""
    y = mp.sqrt(-mp.log(complement)) * mp.mpf("0.9")
    for _ in range(100):
        value = mp.erfc(y)
        step = mp.log(value / complement) * value / (2 / mp.sqrt(mp.pi) * mp.exp(-y * y))
        y += step
        if abs(step) <= abs(y) * mp.mpf(10) ** -40:
            return y
    raise AssertionError(complement)


def inverse_of_erf(x: Any) -> Any:
    """Returns y with erf(y) = `x`."""
    if abs(x) >= 0.5:
        return mp.sign(x) * inverse_of_erfc(1 - abs(x))
    y = x * mp.sqrt(mp.pi) / 2
    for _ in range(8):
        y -= (mp.erf(y) - x) / (2 / mp.sqrt(mp.pi) * mp.exp(-y * y))
    return y


def inverse_of_complement(x: Any) -> Any:
    """Returns y with erfc(y) = `x`."""
    if x < 0.5:
        return inverse_of_erfc(x)
    return -inverse_of_erfc(2 - x) if x > 1.5 else inverse_of_erf(1 - x)


def error_in_ulp(out: Any, exact: Any) -> float:
    """Returns the error of `out`, in units in the last place of the number of its type that is next to `exact`."""
    info = np.finfo(type(out))
    if abs(exact) < float(info.max) * (1 + float(info.eps) / 4):
        unit = np.spacing(abs(type(out)(float(exact))))
        unit = np.spacing(info.max) if not np.isfinite(unit) else unit
        return float(abs(mp.mpf(float(out)) - exact) / mp.mpf(float(unit))) if np.isfinite(out) else float("inf")
    return 0.0 if np.isinf(out) and (out > 0) == (exact > 0) else float("inf")
