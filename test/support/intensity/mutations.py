# SPDX-License-Identifier: Apache-2.0
"""Unsound rules for `intensity`, each of which the launches of `kernels` have to notice.

``mutations.py TRUTH COPY`` makes each bug of Python in turn in a copy of the API, and chooses each bug of the library
that TRITON_EXT_LIBRARY_DIR names. It prints the names of those that nothing noticed, and "none" if something is noticed
although no bug is chosen.
"""

# ruff: noqa: E501 - code as it stands

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from support.intensity import compare
from support.intensity.kernels import Case, cases
from support.mutants import Mutation

WALK, ACCESSES, ADDRESSES, SLICE, OPERATIONS = (
    "Cost.cpp", "Accesses.cpp", "Addresses.cpp", "Slice.cpp", "Operations.cpp",
)  # fmt: skip
CPP = {
    "n combinations of n elements": Mutation(WALK, "(along - 1)", "along"),
    "carried values do not advance": Mutation(
        SLICE, 'add({"iteration", binding.number})', "constant(0)", behind="auto argument = cast<BlockArgument>(value)"
    ),
    "elements have two bytes": Mutation(ACCESSES, "llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)", "2"),
    "atomics without masks": Mutation(ACCESSES, "atomic.getMask()", "Value()", behind="Case([&](tt::AtomicRMWOp"),
    "a dot is one FLOP": Mutation(OPERATIONS, "2 * elementsOf(result.getType()) * k", "elementsOf(result.getType()) * k"),
    "an inserted dimension is the last": Mutation(SLICE, "i != expand.getAxis()", "i + 1 != lanes.size()"),
    "boxes have no end": Mutation(ADDRESSES, 'add({"cmpi", 64, "slt", index, size})', "constant(1)"),
    "the else branch is forgotten": Mutation(
        WALK, 'found["else"] = std::move(otherwise)', 'found["else"] = json::Array()', behind="dyn_cast<scf::IfOp>"
    ),
    "a call has the arguments of the first one": Mutation(
        WALK, "binding.value = value", "binding.value = call.getOperand(std::min(argument.getArgNumber(), 2u))",
        behind="Walk::call(",
    ),
}  # fmt: skip
PYTHON = {
    "tiles with gaps": ("_sums.py", "linear[0] != -size", "linear[0] > 0"),
    "divisors of negative numbers are taken out": ("_expression.py", 'rounding == "floor" or is_natural(over)', "True"),
    "symbols are positive": ("_expression.py", "atom.is_natural", "True"),
    "shares start at one": ("_sums.py", "inner.over - count + 1 + poly(symbol)", "inner.over - count + poly(symbol)"),
    "sums of numbers count one more": ("_sums.py", "count * (count - 1)", "count * (count + 1)"),
    "division rounds down": ("_expression.py", 'if rounding == "zero" and quotient < 0', "if False and quotient < 0"),
    "trips are not rounded up": ("_costs.py", "upper - lower + step - 1", "upper - lower"),
    "trips may be negative": ("_costs.py", 'extreme("max", (poly(0), divide(', "(lambda _, pair: pair[1])('', (0, divide("),
    "branches of data are exact": ("_costs.py", "reasons = tuple(dict.fromkeys(r for c in present for r in c.reasons)) + (() if is_equal else (reason,))", "reasons = ()"),
    "the smaller branch": ("_costs.py", 'else extreme("max", amounts)', 'else extreme("min", amounts)'),
    "the first branch always runs": ("_costs.py", "_chosen(cost, truth) for cost in then", "_chosen(cost, poly(1)) for cost in then"),
    "unknown masks are exact": ("_costs.py", "for one in counted.reasons", "for one in ()"),
    "less is less or equal": ("_graph.py", 'else difference - 1', "else difference"),
    "bounds are not rounded up": ("_conditions.py", "low.append(-divide(rest, poly(factor)))", "low.append(divide(-rest, poly(factor)))"),
    "lanes may be negative": ("_conditions.py", "low, high, odd = [poly(0)]", "low, high, odd = [poly(-9)]"),
    "lanes have no end": ("_conditions.py", "[poly(last.extent)], poly(1)", "[poly(last.extent * 2)], poly(1)"),
    "one dimension of two": ("_conditions.py", "result = total(lane, poly(lane.extent), result)", "pass"),
    "or is and": ("_conditions.py", "return opposite(both(opposite(one), opposite(other)))", "return both(one, other)"),
    "not is forgotten": ("_conditions.py", "return _count(rest, lanes, left - 1) - _count(rest + conjuncts(one.of), lanes, left - 1)", "return _count(rest, lanes, left - 1)"),
    "equal is at least": ("_conditions.py", '[Test(">=", one.value), Test(">=", -one.value)]', '[Test(">=", one.value)]'),
    "conditions without lanes are dropped": ("_conditions.py", "result = result * truth(test.test, test.value)", "pass"),
    "a remainder is dropped": ("_conditions.py", "odd = odd * truth(test.test, test.value)\n            continue", "continue"),
    "masks do not bound the different bytes": ("_costs.py", "return place.within(mask)", "return place"),
    "loops do not bound them": ("_costs.py", "_repeated(_within(cost, runs), symbol, trips)", "_repeated(cost, symbol, trips)"),
    "other branches do not bound them": ("_costs.py", "_within(cost, opposite(condition))", "cost"),
    "one program only": ("_costs.py", "for axis in (2, 1, 0)", "for axis in (2, 1)"),
}  # fmt: skip


def _load(directory: Path) -> ModuleType:
    """Imports the API from a directory as ``tx.intensity``."""
    for name in [name for name in sys.modules if name.partition("triton_ext.intensity")[0] == ""]:
        del sys.modules[name]
    spec = importlib.util.spec_from_file_location("triton_ext.intensity", directory / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["triton_ext.intensity"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


#: The kernels that have noticed a bug, the last one first: many bugs are noticed by the same ones.
_noticing: list[object] = []


def _is_noticed(truth: Path, seed: int) -> bool:
    """Returns whether the launches of a kernel differ from what was counted; looks at those of `_noticing` first."""
    launches: dict[object, list[tuple[Case, Any]]] = {}
    for case, ran in zip(cases(seed, 3), json.loads(truth.read_text()), strict=True):
        launches.setdefault(case.kernel, []).append((case, ran))
    for kernel in [*_noticing, *(kernel for kernel in launches if kernel not in _noticing)]:
        given, counted = zip(*launches[kernel], strict=True)
        try:
            compare.compare(given, [*counted])
        except Exception:
            if kernel in _noticing:
                _noticing.remove(kernel)
            _noticing.insert(0, kernel)
            return True
    return False


def unnoticed(truth: Path, copy: Path, seed: int) -> list[str]:
    """Returns the names of the bugs that nothing has noticed."""
    sys.dont_write_bytecode = True  # a file is changed twice in a second
    missed = []
    for name, (file, old, new) in PYTHON.items():
        text = (copy / file).read_text()
        assert text.count(old) == 1, f"{name}: {text.count(old)} times {old}"
        (copy / file).write_text(text.replace(old, new))
        module = _load(copy)
        _remember(module)
        (copy / file).write_text(text)
        if not _is_noticed(truth, seed):
            missed.append(name)
    _load(copy)
    for name in CPP:
        os.environ["TRITON_EXT_MUTANT"] = name
        if not _is_noticed(truth, seed):
            missed.append(name)
    os.environ["TRITON_EXT_MUTANT"] = ""
    return [*missed, *(["none"] if _is_noticed(truth, seed) else [])]


_described: dict[str, object] = {}


def _remember(module: ModuleType) -> None:
    """Has bugs of Python share what the pass writes, which does not depend on them."""
    compile_it = module.described

    def described(kernel: object, target: object, signature: object, options: object) -> object:
        key = f"{kernel} {signature}"
        if key not in _described:
            _described[key] = compile_it(kernel, target, signature, options)
        return _described[key]

    module.described = described  # type: ignore[attr-defined]


if __name__ == "__main__":
    print(json.dumps(unnoticed(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))))
