# SPDX-License-Identifier: Apache-2.0
"""Wrong rules for the strides of `lowering/Strides.cpp`."""

from __future__ import annotations

from functools import partial

from support.mutants import Mutation

stride = partial(Mutation, "Strides.cpp")

STRIDES = {
    "differences are sums": stride("-1", "1", behind="int64_t sign = isa<arith::SubIOp>(add) ? "),
    "the second term has no stride": stride("sign * uint64_t(*r[i])", "0"),
    "strides have 64 bits": stride("integer ? integer.getWidth() : 64", "64"),
    "a range has no stride": stride("result.assign(1, 1)", "result.assign(1, 0)"),
    "a new dimension is the last": stride(
        "expand.getAxis()", "result.size()", behind="result.insert(result.begin() + "
    ),
    "what is broadcast keeps its stride": stride("size == 1", "size == 0", behind="triton::BroadcastOp broadcast"),
    "a transposition is the identity": stride("from[d]", "from[i]"),
    "factors do not count": stride("dense.getSplatValue<APInt>().getSExtValue()", "1", behind="arith::MulIOp mul"),
    "one factor is the same everywhere": stride("l[i] == 0 && r[i] == 0", "l[i] == 0"),
    "trunci keeps the stride": stride("wrap(*s)", "*s"),
    "a pointer's pointee does not count": stride("pointeeBytes(type)", "from", behind="triton::BitcastOp cast"),
    "pointers lie between two elements": stride("*s * from % to == 0", "true"),
    "any operation has the same results": stride("s != 0", "false", behind=".Default([&](Operation *op) {"),
}
