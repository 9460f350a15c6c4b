# SPDX-License-Identifier: Apache-2.0
"""Bugs for products of narrow elements, each with the tests that notice it."""

from __future__ import annotations

from dataclasses import dataclass

from support.cpu import lanes_mutations


@dataclass(frozen=True)
class Mutation(lanes_mutations.Mutation):
    """A bug that the tests of products notice."""

    tests: str = "test_dot_units.py"


UNITS, PACKING, PACKED, WAITING = "DotUnits.cpp", "DotPacking.cpp", "DotPacked.cpp", "DotWaiting.cpp"
ELEMENTS_OF_WORDS, SPLIT = "DotElements.cpp", "test_dot_split.py"
TILE_SET_UP = "DotTiles.cpp"
TILES, HERE = "test_tiles and bfloat16", "on_this_machine and int8 and haswell"
ORDER, GRID, ORDERS = "ProgramOrder.cpp", "GridOrder.cpp", "test_program_order.py"
ALONG = "along_rows"
ROUNDING, ELEMENTS, FLOATS = "test_dot_rounding.py", "test_elementwise.py", "FloatConversion.cpp"
WAITS, WAITING_TILES = "test_dot_waiting.py", "test_tiles and int8"
SHARED, SOURCES, SHARES = "SharedPanels.cpp", "PanelSources.cpp", "test_shared_panels.py"
IN_PLACE, READS = "DotInPlace.cpp", "test_dot_in_place.py"
HALVES = "test_dot_half_sums.py"

MUTATIONS = {
    # What is chosen
    "a tile may lack rows": Mutation(UNITS, "shape.M >= tileRows", "true", "small_product"),
    "a tile may lack words": Mutation(UNITS, "shape.K >= tileWords * unit.elementsOfWord()", "true", "small_product"),
    "a vector has one lane": Mutation(
        UNITS, "unit.lanes * unit.wordBytes() >= leastBytes", "unit.lanes >= 1", "small_product"
    ),
    "every CPU has AMX": Mutation(UNITS, "features & amxBf16", "true", "unit_of_a_cpu"),
    "every CPU has an FMA of fp16": Mutation(UNITS, "features & avx512Fp16", "true", "callers_choice", HALVES),
    # How operands are packed
    "words are not interleaved": Mutation(ELEMENTS_OF_WORDS, "i % 2", "2 * i >= vectors.size()", "test_tiles and int8"),
    "bytes have no sign": Mutation(ELEMENTS_OF_WORDS, "unit.kind == DotUnit::Kind::Pairs", "false", HERE),
    "a word has its second element twice": Mutation(
        PACKING, "b.constant(b.getI64Type(), i)", "b.constant(b.getI64Type(), 1)", TILES, behind="Value k = plus("
    ),
    "one step less transposes": Mutation(PACKING, "step < size", "step < size / 2", TILES),
    "panels overlap": Mutation(PACKING, "words * unit.lanes", "unit.lanes", TILES, behind="plus(b, times(b, panel, "),
    "all batches are the first": Mutation(PACKING, "coord.base", "b.constant(b.getI64Type(), 0)", TILES),
    "a float is an f32 already": Mutation(
        ELEMENTS_OF_WORDS, "unit.isFloats()", "false", "on_this_machine and float16 and haswell"
    ),
    "columns end where rows do": Mutation(
        PACKING, "splits.ofTensors(operand, other)", "splits.ofTensors(operand, other - 1)", "masked_operands"
    ),
    "every word has 32 bits": Mutation(
        PACKING, "b.getIntegerType(8 * wordBytes)", "b.getI32Type()", "exact_sums", HALVES
    ),
    # How they are converted
    "a stored operand is computed again": Mutation(
        ELEMENTS_OF_WORDS, "!plan.isStored(operand)", "true", "stored_operand and sapphirerapids", ROUNDING
    ),
    "every unit wants bf16": Mutation(
        UNITS, "unit.hasBrainFloats()", "true", "nearest and float16 and sapphirerapids", ROUNDING
    ),
    "an f64 is rounded as an f32": Mutation(
        UNITS, "getElementTypeOrSelf(round.getIn().getType()).isF32()", "true", "of_f64 and sapphirerapids", ROUNDING
    ),
    "an exponent of 31 is infinite in every format": Mutation(
        FLOATS, "format.bias <= 15", "true", "test_fp8 and e5m2fnuz", ELEMENTS
    ),
    "the infinity of 8 bits is not a number": Mutation(
        FLOATS, "largest + hasInfinity()", "largest", "test_fp8 and e5m2", ELEMENTS
    ),
    # How they are multiplied
    "a sum is forgotten": Mutation(
        PACKED, "startsAtZero", "true", TILES, behind="forSums([&](Value number, Value at) {\n    if ("
    ),
    "a block of tiles has one row": Mutation(
        PACKED, "m.leftAt(i, r * tileRows, k, left)", "m.leftAt(i, 0, k, left)", TILES
    ),
    "tiles of the right operand are the first": Mutation(
        PACKED, "m.rightAt(j, c, k, right)", "m.rightAt(j, 0, k, right)", TILES
    ),
    "a configuration has 15 rows": Mutation(
        TILE_SET_UP, "tileRows", "tileRows - 1", TILES, behind="bytes[rows + tile] = "
    ),
    "a loop that prints keeps its tiles": Mutation(TILE_SET_UP, "!mayLeave", "true", "configuration"),
    "every sum has 32 bits": Mutation(PACKED, "unit.wordBytes()", "4", "exact_sums", HALVES, behind="shape.N,"),
    # Numbers that are the sum of two
    "a zero has parts that are not zero": Mutation(
        ELEMENTS_OF_WORDS, "arith::CmpFPredicate::OEQ", "arith::CmpFPredicate::AlwaysFalse", "its_parts", SPLIT
    ),
    "half of a power of two is zero": Mutation(
        ELEMENTS_OF_WORDS,
        "arith::AndIOp::create(b, below, kept)",
        "arith::AndIOp::create(b, below, bits)",
        "infinity",
        SPLIT,
    ),
    "all bits of a part are set": Mutation(
        ELEMENTS_OF_WORDS, "arith::AndIOp::create(b, below, kept)", "below", "integers", SPLIT
    ),
    "a part is not subtracted": Mutation(
        ELEMENTS_OF_WORDS, "arith::BitcastOp::create(b, f32, high)", "rest", "its_parts", SPLIT
    ),
    "all left parts are the first": Mutation(
        PACKED, "m.leftAt(i, r * tileRows, k, left)", "m.leftAt(i, r * tileRows, k, 0)", "its_parts", SPLIT
    ),
    "all right parts are the first": Mutation(
        PACKED, "m.rightAt(j, c, k, right)", "m.rightAt(j, c, k, 0)", "its_parts", SPLIT
    ),
    "the last part lies where the first one is": Mutation(PACKING, "part * target.partBytes", "0", "its_parts", SPLIT),
    "one part is transposed": Mutation(PACKING, "unit.parts", "int64_t(1)", "its_parts", SPLIT, behind="b.forLoop(0, "),
    "one part of the last tile ends with zeros": Mutation(
        WAITING, "part < unit.parts", "part < 1", "test_tiles and float16 and sapphirerapids", WAITS
    ),
    # Products that wait for several iterations
    "an old sum that is stored waits": Mutation(UNITS, "!carried.hasOneUse()", "false", "needs", WAITS),
    "a new sum that is stored waits": Mutation(UNITS, "!op->hasOneUse()", "false", "needs", WAITS),
    "a sum of f16 waits": Mutation(UNITS, "op.getType().getElementType() != sum", "false", "f16", WAITS),
    "all iterations have one slot": Mutation(
        WAITING, "slots - 1", "0", WAITING_TILES, WAITS, behind="arith::AndIOp::create(b, iteration,"
    ),
    "the last iterations are forgotten": Mutation(
        WAITING, "arith::CmpIPredicate::ne", "arith::CmpIPredicate::slt", WAITING_TILES, WAITS
    ),
    "the last tile ends with old words": Mutation(WAITING, "slotsOfTile > 1", "false", WAITING_TILES, WAITS),
    "panels have one slot": Mutation(
        PACKING, "slots * words", "words", WAITING_TILES, WAITS, behind="int64_t panelBytes = "
    ),
    # The order of programs
    "an order that can be seen changes": Mutation(
        ORDER, "showsOrder(function) ? triton::DotOp() : found", "found", "shows_the_order", ORDERS
    ),
    "an order along x that can be seen changes": Mutation(GRID, "showsOrder(function)", "false", ALONG, ORDERS),
    "columns are rows of tiles": Mutation(GRID, "found[dim].axes", "found[1 - dim].axes", ALONG, ORDERS),
    "a tie goes to y": Mutation(GRID, "along[1] > along[0]", "along[1] >= along[0]", ALONG, ORDERS),
    "every stride is 1": Mutation(
        GRID, "isOne", "result", ALONG, ORDERS, behind="result = arith::AndIOp::create(b, result, "
    ),
    "a fault names the program that has its turn along x": Mutation(
        "Entry.cpp", "number", "id", "two_axes", ORDERS, behind="number, x);\n  }\n  storeNumber(b, "
    ),
    "the kernel's own order changes": Mutation(
        ORDER, "llvm::any_of(user->getUsers(), isDivision)", "false", "of_its_own", ORDERS
    ),
    "the last group is taken for full": Mutation(
        ORDER, "arith::CmpIPredicate::eq", "arith::CmpIPredicate::uge", "last_group", ORDERS
    ),
    "a group of a slow product has no more rows": Mutation(
        ORDER, "isSlow", "false", "of_slow", ORDERS, behind="matrixRows = "
    ),
    "a slow product of a computed operand has more rows": Mutation(
        ORDER, "dot.getA().getDefiningOp<triton::LoadOp>()", "true", "of_slow", ORDERS
    ),
    "fp16 is not slow": Mutation(ORDER, "element.isF16()", "false", "of_slow", ORDERS),
    "a fault names the program whose turn it was": Mutation(
        "FunctionLowering.cpp", "axis ? ids[axis] : id", "ids[axis]", "fault_names", ORDERS
    ),
    # Operands that later programs share
    "a key is never compared": Mutation(
        SHARED, "arith::OrIOp::create(b, isNew, differs)", "isNew", "first and haswell", SHARES
    ),
    "the first step is not in the key": Mutation(
        SOURCES, "visit(loop.getLowerBound(), false)", "true", "first and haswell", SHARES
    ),
    "a store changes no operand": Mutation(
        SHARED,
        "compare(b, arith::CmpIPredicate::ult, low, load(panel.high))",
        "b.constant(b.getI1Type(), 0)",
        "inside and haswell",
        SHARES,
    ),
    "a range ends with its last element": Mutation(
        SHARED, "pointeeBytes(pointers.getType())", "0", "last and haswell", SHARES
    ),
    "zeros at the end are valid": Mutation(
        SHARED,
        "arith::MinUIOp::create(b, load(panel.valid), iterations)",
        "load(panel.valid)",
        "test_tiles and triangle and int8",
        SHARES,
    ),
    "an iteration is valid without those before it": Mutation(
        SHARED, "arith::AndIOp::create(b, isNext, isKept)", "isKept", "back and haswell", SHARES
    ),
    "an iteration for which there is no memory is valid": Mutation(
        SHARED, "arith::AndIOp::create(b, isNext, isKept)", "isNext", "larger and haswell", SHARES
    ),
    "a load that stands before a store is shared": Mutation(
        SOURCES, "!plan.isStored(value)", "true", "between and haswell", SHARES
    ),
    "the first product takes all of the memory": Mutation(
        SHARED, "left / int64_t(found.size() - i)", "left", "products_of_a_loop", SHARES
    ),
    "programs that synchronize share": Mutation(SHARED, "synchronizes(context.function)", "false", "tell", SHARES),
    "a scalar is loaded once": Mutation(SOURCES, "!isInside || !isPacked", "!isInside", "tell", SHARES),
    "programs of a row share": Mutation(SHARED, "differsByProgram(value, order)", "false", "tell", SHARES),
    # Left operands that are read in place
    "a store may lie between a load and its product": Mutation(
        IN_PLACE, "parts.plan.isStored(op.getA())", "false", "between and haswell", READS
    ),
    "a product that waits reads in place": Mutation(IN_PLACE, "slots > 1", "false", "plain and haswell", READS),
    "narrow floats are read as they are": Mutation(
        IN_PLACE, "!op.getA().getType().getElementType().isF32()", "false", "narrow and haswell", READS
    ),
    "a batch is a row": Mutation(IN_PLACE, "!shape.batches.empty()", "false", "batches", READS),
    "strided elements are contiguous": Mutation(
        IN_PLACE, "isContiguous(ptr.pattern, wordBytes)", "true", "strided and haswell", READS
    ),
    "every stride along K is 1": Mutation(IN_PLACE, "both(b, isOn, ptr.holds)", "isOn", "stride and haswell", READS),
    "an index along K never wraps around": Mutation(
        IN_PLACE,
        "arith::CmpIPredicate::eq",
        "arith::CmpIPredicate::ule",
        "around and haswell",
        READS,
        behind="LLVM::PtrToIntOp::create",
    ),
    "a mask that is off for a row is on": Mutation(
        IN_PLACE, "lanes.base", "b.constant(b.getI1Type(), 1)", "lower and haswell", READS
    ),
    "a mask of columns is on": Mutation(
        IN_PLACE,
        "arith::CmpIPredicate::eq",
        "arith::CmpIPredicate::ule",
        "columns and haswell",
        READS,
        behind="Value full = ",
    ),
    "the last row decides": Mutation(IN_PLACE, "both(b, carried[0], isOn)", "isOn", "lower and haswell", READS),
    "rows that are not read in place are not packed": Mutation(
        WAITING,
        "arith::XOrIOp::create(b, isPossible, b.constant(b.getI1Type(), 1))",
        "isPossible",
        "columns and haswell",
        READS,
    ),
    "packed rows are the first one": Mutation(
        PACKED, "leftAt(row, r, b.zero())", "leftAt(row, 0, b.zero())", "columns and haswell", READS
    ),
}
