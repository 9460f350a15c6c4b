# SPDX-License-Identifier: Apache-2.0
"""Runs launches in Triton's interpreter, and counts the bytes and FLOPs of each operation that it executes.

``count.py SEED EACH`` runs those of `kernels`, ``count.py FILE SEED EACH`` those of a file of `generated`. Prints a
list in JSON. TRITON_INTERPRET=1 has to be set.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from support.intensity import compare
from support.intensity.kernels import Case, cases

FOUND: Counter[str] = Counter()
#: The bytes of an element at each address that was loaded, and at each that was stored.
ADDRESSES: dict[str, dict[int, int]] = {"loads": {}, "stores": {}}
_FLOPS = {
    "add": ("fadd", "fsub"),
    "mul": ("fmul",),
    "div": ("fdiv", "precise_divf", "frem"),
    "transcendental": ("exp", "exp2", "log", "sin", "cos", "sqrt", "precise_sqrt", "rsqrt"),
}


def watch() -> None:
    """Makes the interpreter count what it executes."""
    builder = interpreter.InterpreterBuilder
    load, store, rmw = builder.create_masked_load, builder.create_masked_store, builder.create_atomic_rmw
    dot = builder.create_dot

    def size(pointers: Any) -> int:
        return max(pointers.get_element_ty().primitive_bitwidth // 8, 1)

    def truth_of(mask: Any) -> Any:
        # The interpreter makes an integer of the conjunction of a scalar and a tensor, and takes no such mask.
        return interpreter.TensorHandle(np.asarray(mask.data) != 0, tl.int1)

    def remember(what: str, pointers: Any, mask: Any) -> None:
        on = np.broadcast_to(np.asarray(mask.data, bool), pointers.data.shape)
        ADDRESSES[what].update(dict.fromkeys(pointers.data[on].tolist(), size(pointers)))

    def watched_load(self: Any, ptrs: Any, mask: Any, *rest: Any, **named: Any) -> Any:
        mask = truth_of(mask)
        FOUND["loads"] += int(np.sum(mask.data)) * size(ptrs)
        remember("loads", ptrs, mask)
        return load(self, ptrs, mask, *rest, **named)

    def watched_store(self: Any, ptrs: Any, value: Any, mask: Any, *rest: Any, **named: Any) -> Any:
        mask = truth_of(mask)
        FOUND["stores"] += int(np.sum(mask.data)) * size(ptrs)
        remember("stores", ptrs, mask)
        return store(self, ptrs, value, mask, *rest, **named)

    def watched_rmw(self: Any, kind: Any, ptr: Any, val: Any, mask: Any, *rest: Any, **named: Any) -> Any:
        lanes = int(np.sum(mask.data))
        for what in ("loads", "stores"):
            FOUND[what] += lanes * size(ptr)
            remember(what, ptr, mask)
        FOUND["add"] += lanes * (np.issubdtype(val.data.dtype, np.floating))
        return rmw(self, kind, ptr, val, mask, *rest, **named)

    def watched_dot(self: Any, a: Any, b: Any, d: Any, *rest: Any) -> Any:
        FOUND["dot"] += 2 * d.data.size * a.data.shape[-1]
        return dot(self, a, b, d, *rest)

    builder.create_masked_load, builder.create_masked_store = watched_load, watched_store
    builder.create_atomic_rmw, builder.create_dot = watched_rmw, watched_dot
    for kind, names in _FLOPS.items():
        for name in (f"create_{name}" for name in names if hasattr(builder, f"create_{name}")):
            setattr(builder, name, _watched(getattr(builder, name), kind))
    # Reductions and scans execute the combining function, element after element.
    interpreter.ReduceOps.apply_impl = interpreter.ReduceOps.generic_reduce
    interpreter.ScanOps.apply_impl = interpreter.ScanOps.generic_scan


def _watched(operation: Any, kind: str) -> Any:
    def run(self: Any, *operands: Any) -> Any:
        result = operation(self, *operands)
        FOUND[kind] += result.data.size
        return result

    return run


def run(case: Case, rng: random.Random) -> dict[str, Any]:
    """Executes a launch, and returns what was counted, and the launch."""
    FOUND.clear()
    for addresses in ADDRESSES.values():
        addresses.clear()
    pointers = []
    for kind in case.pointers.values():
        numbers = [rng.randint(-12, 20) if kind == "*i32" else rng.random() for _ in range(20_000)]
        tensor = torch.tensor(numbers, dtype=torch.int32 if kind == "*i32" else torch.float32)
        pointers.append(tensor.abs() if case.kernel.__name__ == "histogram" else tensor)
    given = dict(zip(case.pointers, pointers, strict=True))
    case.kernel[case.grid](**given, **case.sizes)
    FOUND["unique"] = sum(sum(addresses.values()) for addresses in ADDRESSES.values())
    return {"kernel": case.kernel.__name__, "sizes": case.sizes, "grid": case.grid, "found": dict(FOUND)}


if __name__ == "__main__":
    watch()
    if len(sys.argv) == 3:
        launches = list(cases(int(sys.argv[1]), int(sys.argv[2])))
    else:
        launches = list(compare.launches_of(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
    chance = random.Random(1)
    print(json.dumps([run(case, chance) for case in launches]))
