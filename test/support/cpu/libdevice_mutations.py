# SPDX-License-Identifier: Apache-2.0
"""Bugs for libdevice's functions on the CPU, each with the tests that notice it."""

from __future__ import annotations

from support.cpu.lanes_mutations import Mutation

ROUNDING, FLOATS = "lowering/LibdeviceRounding.cpp", "lowering/LibdeviceFloats.cpp"
ERRORS = "lowering/LibdeviceErrorFunctions.cpp"
MODE, SPECIAL = "runtime/DirectedRounding.cpp", "runtime/SpecialFunctions.cpp"
OF_ROUNDING, OF_SPECIAL = "test_libdevice_rounding.py", "test_libdevice_special.py"

MUTATIONS = {
    # Rounding in a direction
    "an odd number is away from zero": Mutation(
        ROUNDING, "select(isSmaller, constant(-1), constant(1))", "constant(1)", "arithmetic", OF_ROUNDING
    ),
    "a zero has no direction": Mutation(
        ROUNDING, 'mode == "rd"', "false", "arithmetic and add-rd", OF_ROUNDING, behind="bool isDown = "
    ),
    "an upper half has no sign": Mutation(
        ROUNDING, "convert(high, f64, isSigned)", "convert(high, f64, false)", "long_integers", OF_ROUNDING
    ),
    "f64 rounds to the nearest": Mutation(
        MODE, "mode", "FE_TONEAREST", "arithmetic", OF_ROUNDING, behind="std::fesetround("
    ),
    # Powers of two, norms, roots, sines
    "a power of two leaves f32": Mutation(FLOATS, "limit(400)", "limit(127)", "powers_of_two", OF_SPECIAL),
    "an exponent is one more": Mutation(
        FLOATS, "constant(1023)", "constant(1022)", "ilogb", OF_SPECIAL, behind="sub(shift(bits, 52, false), "
    ),
    "NaN hides an infinity": Mutation(
        FLOATS, "select(isInfinite, number(INFINITY), root)", "root", "special_values and norm3d", OF_SPECIAL
    ),
    "a zero of the sine has no sign": Mutation(
        FLOATS, "select(isZero, zero, value)", "value", "special_values and sinpi", OF_SPECIAL
    ),
    "two steps make a root": Mutation(FLOATS, "i < 4", "i < 2", "bound and rcbrt", OF_SPECIAL),
    "an order is negative": Mutation(
        FLOATS, "select(isNegative, number(NAN), value)", "value", "any_order", OF_SPECIAL
    ),
    # The error function's relatives as vectors
    "an inverse is finite": Mutation(
        ERRORS, "select(is(P::OEQ, complement, number(0)), infinite, value)", "value", "special and erfinv", OF_SPECIAL
    ),
    "a quotient of infinities": Mutation(
        ERRORS,
        "select(is(P::OGT, z, number(0x1p200)), number(0x1p200), z)",
        "z",
        "special and erfcx",
        OF_SPECIAL,
    ),
    "the centre has no border": Mutation(
        ERRORS, "select(is(P::OLT, w, number(border)), central, tail)", "central", "bound and erfcinv", OF_SPECIAL
    ),
    "a tail is that of the other side": Mutation(
        ERRORS, "select(isNegative, tail, fsub(one, tail))", "tail", "bound and normcdf", OF_SPECIAL
    ),
    # Special functions
    "a fraction has 5 terms": Mutation(SPECIAL, "20", "5", "bound and erfcx", OF_SPECIAL, behind="for (int k = "),
    "an inverse is right to 8 bits": Mutation(SPECIAL, "0x1p-32", "0x1p-8", "bound and erfinv", OF_SPECIAL),
    "a root of 2 has 30 bits": Mutation(
        SPECIAL, "std::sqrt(R(0.5))", "R(0.707106781)", "bound and normcdf", OF_SPECIAL
    ),
    "a series has 40 bits": Mutation(
        SPECIAL, "0x1p-70", "0x1p-40", "bound and bessel_i0", OF_SPECIAL, behind="term > sum * "
    ),
}
