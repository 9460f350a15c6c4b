// SPDX-License-Identifier: Apache-2.0

include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ProbeDialect : Dialect {
  let name = "probe";
  let summary = "Observations of a running kernel";
  let description = [{
    See RATIONALE.md for why it exists.
  }];
  let cppNamespace = "::mlir::triton_ext::probe";
}

// The write effect keeps an operation without results from being removed, or
// moved across other memory operations.
class Probe_Op<string mnemonic, list<Trait> traits = []>
    : Op<ProbeDialect, mnemonic, traits # [MemoryEffects<[MemWrite]>]> {
  let hasVerifier = 1;
}

def Probe_BoolLike : AnyTypeOf<[I1, TensorOf<[I1]>], "i1 or tensor of i1">;

def Probe_CountOp : Probe_Op<"count"> {
  let summary = "Adds the number of active lanes to a counter";
  let description = [{
    A scalar mask, or none, counts the program itself.

    ```mlir
    probe.count "tiles"
    probe.count "in bounds" mask(%m : tensor<128xi1>)
    ```
  }];
  let arguments = (ins StrAttr:$name, Optional<Probe_BoolLike>:$mask);
  let assemblyFormat = "$name (`mask` `(` $mask^ `:` type($mask) `)`)? attr-dict";
}

def Probe_RecordOp : Probe_Op<"record", [AttrSizedOperandSegments]> {
  let summary = "Appends a record for each active lane to the buffer";
  let description = [{
    A record holds the ids of the program, the lane and one value for each
    operand. If every operand is a scalar, the program appends one record.
    Tensors have one shape; scalars are repeated for each lane. Records that do
    not fit into the buffer are counted and dropped.

    Integers are signed, but for those values for which `are_unsigned` says
    otherwise.

    ```mlir
    probe.record "x"(%i, %v : i32, tensor<128xf32>) mask(%m : tensor<128xi1>)
    probe.record "y"(%i, %j : i32, i32) {are_unsigned = array<i1: false, true>}
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyType>:$values,
                       Optional<Probe_BoolLike>:$mask,
                       OptionalAttr<DenseBoolArrayAttr>:$are_unsigned);
  let assemblyFormat = [{
    $name (`(` $values^ `:` type($values) `)`)?
    (`mask` `(` $mask^ `:` type($mask) `)`)? attr-dict
  }];
}

/// `is_unsigned` says how to read integers, because MLIR's have no sign.
class Probe_SummaryOp<string mnemonic> : Probe_Op<mnemonic> {
  let arguments = (ins StrAttr:$name, AnyType:$value,
                       Optional<Probe_BoolLike>:$mask,
                       UnitAttr:$is_unsigned);
  let assemblyFormat = [{
    $name `(` $value `:` type($value) `)` (`mask` `(` $mask^ `:` type($mask) `)`)?
    attr-dict
  }];
}

def Probe_MinMaxOp : Probe_SummaryOp<"minmax"> {
  let summary = "Keeps the least and the greatest number, and counts NaNs apart";
  let description = [{
    Integers are signed, unless `is_unsigned` is there.

    ```mlir
    probe.minmax "x"(%v : tensor<128xf32>) mask(%m : tensor<128xi1>)
    ```
  }];
}

def Probe_StatsOp : Probe_SummaryOp<"stats"> {
  let summary = "Sums up numbers and their squares, and counts NaNs and infinities apart";
  let description = [{
    The sums are of f64, whose order of additions is not determined.

    ```mlir
    probe.stats "x"(%v : tensor<128xf32>)
    ```
  }];
}

def Probe_HistogramOp : Probe_Op<"histogram"> {
  let summary = "Counts numbers by bins of one width";
  let description = [{
    Counts each number `x` of `lo <= x <= hi`, as f64, in the bin that NumPy's
    histogram does: the edges are those of `linspace`, and the last bin has both
    of its edges. Numbers below, numbers above, and NaNs are counted apart.

    ```mlir
    probe.histogram "x"(%v : tensor<128xf32>) {bins = 10 : i32, lo = 0.0 : f64, hi = 1.0 : f64}
    ```
  }];
  let arguments = (ins StrAttr:$name, AnyType:$value, I32Attr:$bins,
                       F64Attr:$lo, F64Attr:$hi,
                       Optional<Probe_BoolLike>:$mask,
                       UnitAttr:$is_unsigned);
  let assemblyFormat = [{
    $name `(` $value `:` type($value) `)` (`mask` `(` $mask^ `:` type($mask) `)`)?
    attr-dict
  }];
}

def Probe_CheckOp : Probe_Op<"check", [AttrSizedOperandSegments]> {
  let summary = "Counts lanes whose condition is false, and records the first ones";
  let description = [{
    The kernel goes on. The first 16 failures of each check are records, whose
    values are those of `probe.record`; every failure is counted.

    A pass that inserts a check can give it the attribute `probe.note`, a text
    that the table of sites carries to the host as it is. Of such a check the
    first lane that fails is a record, in each of the first 64 runs in which
    one fails.

    ```mlir
    probe.check %c, "in range"(%v : tensor<128xf32>) : tensor<128xi1>
    probe.check %c, "bounds"(%a : i64) {probe.note = "{\"check\": \"bounds\"}"} : i1
    ```
  }];
  let arguments = (ins Probe_BoolLike:$condition, StrAttr:$message,
                       Variadic<AnyType>:$values,
                       Optional<Probe_BoolLike>:$mask,
                       OptionalAttr<DenseBoolArrayAttr>:$are_unsigned);
  let assemblyFormat = [{
    $condition `,` $message (`(` $values^ `:` type($values) `)`)?
    (`mask` `(` $mask^ `:` type($mask) `)`)? attr-dict `:` type($condition)
  }];
}

def Probe_FailuresOp : Probe_Op<"failures"> {
  let summary = "Counts lanes that a pass has found to be wrong, and records the first one";
  let description = [{
    Stands for several checks with a note, which share one piece of code. They
    have the locations `places`, the names `messages` and the notes `notes`;
    `site` says which of them has failed, in how many lanes, and which lane is
    the first one (-1 for a scalar). `values` are those of the first lane.
    Nothing happens if `count` is 0. Needs a launch slot.

    ```mlir
    probe.failures %site, %count, %lane (%serial, %address : i64, i64)
      messages ["bounds", "view"] notes ["{}", "{}"] places [loc("a.py":1:2), loc("a.py":1:2)]
    ```
  }];
  let arguments = (ins I32:$site, I64:$count, I32:$lane,
                       Variadic<AnyType>:$values, StrArrayAttr:$messages,
                       StrArrayAttr:$notes, ArrayAttr:$places);
  let assemblyFormat = [{
    $site `,` $count `,` $lane (`(` $values^ `:` type($values) `)`)?
    `messages` $messages `notes` $notes `places` $places attr-dict
  }];
}

def Probe_OutsideOp : Probe_Op<"outside"> {
  let summary = "Keeps the first lane whose access is outside of an argument's view";
  let description = [{
    Is for addresses that each lane computes for itself. The launch slot knows
    the view of the argument, and gets the first lane of the launch outside of
    it, with its program and its address. A lane that is also outside of the
    memory of the argument comes before all others. Nothing is counted: where a
    layout repeats a lane, threads may look at it twice. Without a slot nothing
    is outside. Needs a note, as a check can have.

    ```mlir
    probe.outside %address, "view" mask(%on : tensor<128xi1>)
      {argument = 0 : i32, bytes = 4 : i32, probe.note = "{}"} : tensor<128xi64>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I64]>:$address, StrAttr:$message,
                       Optional<Probe_BoolLike>:$mask, I32Attr:$argument,
                       I32Attr:$bytes);
  let assemblyFormat = [{
    $address `,` $message (`mask` `(` $mask^ `:` type($mask) `)`)?
    attr-dict `:` type($address)
  }];
}

def Probe_ShadowOp : Probe_Op<"shadow", [AttrSizedOperandSegments]> {
  let summary = "Looks at the shadow of the memory that an access touches";
  let description = [{
    Is for programs of one thread: the look is a function of the CPU backend's
    runtime. Without numbers, each byte of the memory has a bit that says whether it was
    written. Bit 0 of `how` says that the access reads, bit 1 that it writes.
    With the place of the program in the grid and the number of the lock that it
    holds, or 0, each element has a word with the programs that have touched it,
    to which the operation adds this one; `how` is what `triton_ext_cpu_look_for_races` expects. A lane
    that reads a byte without its bit, or that finds a program that it races
    with, is counted, and the first one is recorded with its address, and with
    the word that it has found. Needs a note, as a check can have. Without a
    slot nothing happens.

    ```mlir
    probe.shadow %address, "uninit" mask(%on : tensor<128xi1>)
      {argument = 0 : i32, bytes = 4 : i32, how = 1 : i64, probe.note = "{}"} : tensor<128xi64>
    probe.shadow %address, "race" numbers(%program, %lock)
      {argument = 0 : i32, bytes = 4 : i32, how = 50463240 : i64, probe.note = "{}"} : i64
    ```
  }];
  let arguments = (ins AnyTypeOf<[I64, RankedTensorOf<[I64]>]>:$address,
                       StrAttr:$message, Optional<Probe_BoolLike>:$mask,
                       Variadic<I64>:$numbers, I32Attr:$argument,
                       I32Attr:$bytes, I64Attr:$how);
  let assemblyFormat = [{
    $address `,` $message (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`numbers` `(` $numbers^ `)`)? attr-dict `:` type($address)
  }];
}

def Probe_RaiseOp : Op<ProbeDialect, "raise", [MemoryEffects<[MemWrite]>]> {
  let summary = "Raises the flag of the launch slot";
  let description = [{
    Counts in the slot in how many programs the condition is true, so that the
    host knows that a `check` may have failed in the launch. A pass uses it for
    checks whose code is in a kernel of its own. The kernel gets a launch slot.

    ```mlir
    probe.raise %isOut, "bounds"
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$check);
  let assemblyFormat = "$condition `,` $check attr-dict";
}

def Probe_FollowOp : Op<ProbeDialect, "follow", [MemoryEffects<[MemWrite]>]> {
  let summary = "Has the session note the launches of the kernel";
  let description = [{
    Is in a kernel with a `check` that the host decides from the arguments of a
    launch. It becomes nothing but a word in the table of sites.

    ```mlir
    probe.follow "bounds"
    ```
  }];
  let arguments = (ins StrAttr:$check);
  let assemblyFormat = "$check attr-dict";
}

// An effect keeps it. A write may not be in the region of tt.map_elementwise.
def Probe_PromiseOp : Op<ProbeDialect, "promise", [MemoryEffects<[MemFree]>]> {
  let summary = "Carries a mark for a value that has no operation of its own";
  let description = [{
    `tl.multiple_of` and the like mark the operation that computes the value.
    An argument has none, so Triton drops the mark. `mark` is the attribute's
    name, with one number for each dimension. Only a session that checks marks
    has this operation built.

    ```mlir
    probe.promise "tt.divisibility" [16] %n : i32
    ```
  }];
  let arguments = (ins StrAttr:$mark, DenseI64ArrayAttr:$numbers, AnyType:$value);
  let assemblyFormat = "$mark $numbers $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Probe_ClockOp : Op<ProbeDialect, "clock", [MemoryEffects<[MemWrite]>]> {
  let summary = "Reads the cycle counter";
  let description = [{
    Each thread of the program reads the counter of its own processor. A value
    that is stored is that of the program's first thread. Without a session the
    result is 0.

    ```mlir
    %t = probe.clock : i64
    ```
  }];
  let results = (outs I64:$time);
  let assemblyFormat = "attr-dict `:` type($time)";
}

def Probe_LaunchWordOp : Op<ProbeDialect, "launch_word", [Pure]> {
  let summary = "Reads a word of the launch slot, which describes the launch's arguments";
  let description = [{
    The host fills a slot for each list of arguments: RATIONALE.md lists its
    words. Without a slot the result is 0, or what `otherwise` says. An offset
    is added to the number.

    ```mlir
    %end = probe.launch_word 9 : i64
    %other = probe.launch_word 9 + %offset : i64
    ```
  }];
  let arguments = (ins I32Attr:$word, Optional<I64>:$offset,
                       OptionalAttr<I64Attr>:$otherwise);
  let results = (outs I64:$value);
  let assemblyFormat = "$word (`+` $offset^)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Probe_RegionBeginOp : Probe_Op<"region_begin"> {
  let summary = "Begins a part of the kernel whose duration is recorded";
  let description = [{
    The result is only a handle for the `probe.region_end` that records the
    times of both operations: those of the program's first thread, or with
    `per_warp` those of the first thread of each warp. A region without an end
    is not recorded.

    ```mlir
    %h = probe.region_begin "load" : i64
    %h = probe.region_begin "load" {per_warp} : i64
    ```
  }];
  let arguments = (ins StrAttr:$name, UnitAttr:$per_warp);
  let results = (outs I64:$handle);
  let assemblyFormat = "$name attr-dict `:` type($handle)";
}

def Probe_RegionEndOp : Probe_Op<"region_end"> {
  let summary = "Ends a region, and records its two times";
  let description = [{
    The operand is the result of a `probe.region_begin`, which has one end.

    ```mlir
    probe.region_end %h
    ```
  }];
  let arguments = (ins I64:$handle);
  let assemblyFormat = "$handle attr-dict";
}
