# SPDX-License-Identifier: Apache-2.0
"""The knobs of the backend's own passes: skip, move, repeat, other arguments. They come from a recorded compilation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..loading.discovery import extensions
from ..patches import signatures
from ..pipeline.builtin_passes import find_builtin
from ..pipeline.records import PassRecord, StageRecord
from ..pipeline.values import text_of
from .knobs import Effect, Knob, Value, powers

#: Passes of libtriton that only optimise, with their meaning: a kernel compiles and computes the same without them.
#: Those after `_ROUNDING` may change the order or the precision of operations.
OPTIONAL = {
    "common.canonicalizer": "simplify operations to their canonical form",
    "common.cse": "merge equal computations",
    "common.licm": "move computations that do not change out of loops",
    "common.sccp": "propagate constants through control flow",
    "common.symbol_dce": "remove functions that nothing calls",
    "ttir.reorder_broadcast": "compute before broadcasting where that is less work",
    "ttir.loop_unroll": "unroll the loops that ask for it",
    "ttir.triton_licm": "move loads and computations that do not change out of loops",
    "ttir.loop_aware_cse": "merge equal computations, loop-carried ones too",
    "ttgpuir.coalesce": "give loads and stores layouts in which threads access neighbouring addresses",
    "ttgpuir.remove_layout_conversions": "choose layouts so that fewer conversions between them remain",
    "ttgpuir.optimize_dot_operands": "fold conversions into the operands of matrix products",
    "ttgpuir.fuse_nested_loops": "fuse nested loops into one that can be pipelined",
    "ttgpuir.combine_tensor_select_and_if": "merge selects into an if on the same condition",
    "ttgpuir.prefetch": "load a matrix product's operands from shared memory one slice ahead",
    "ttgpuir.assign_latencies": "decide how many stages ahead the loads of a loop are issued",
    "ttgpuir.schedule_loops": "assign the operations of loops to pipeline stages",
    "ttgpuir.pipeline": "overlap the loads of a loop's iteration with the work of those before",
    "ttgpuir.coalesce_async_copy": "copy asynchronously in the layout that memory prefers",
    "ttgpuir.reduce_data_duplication": "go through shared memory where threads would hold copies",
    "ttgpuir.reorder_instructions": "move operations to where they need fewer registers",
    "nvidia.ttnvgpuir.optimize_descriptor_encoding": "choose the layouts of tensor descriptors",
    "nvidia.ttnvgpuir.interleave_tmem": "interleave accesses of tensor memory with computation",
    "nvidia.hopper.hopper_warpspec": "give warps different work",
    "amd.ttgpuir.reorder_instructions": "move operations to where they need fewer registers",
    "amd.ttgpuir.block_pingpong": "interleave memory and matrix instructions of two groups of warps",
    "amd.ttgpuir.canonicalize_pointers": "separate scalar and vector parts of pointers",
}
_ROUNDING = {
    "ttir.combine": "fold an addition into a matrix product, a select into a load, and the like",
    "ttgpuir.optimize_thread_locality": "reduce within a thread before reducing across threads",
    "ttgpuir.accelerate_matmul": "give matrix products the layouts of tensor cores",
    "ttgpuir.f32_dot_tc": "compute float32 products on tensor cores in several steps",
    "ttgpuir.optimize_accumulator_init": "drop the initial zero of an accumulator",
    "amd.ttgpuir.accelerate_matmul": "give matrix products the layouts of matrix cores",
}
#: Arguments that change how the kernel is optimised; all others describe the target or are for debugging.
_ARGUMENTS: dict[str, tuple[Effect, str]] = {
    "num_stages": ("no", "the number of software pipeline stages"),
    "hoist_layout_conversion": ("no", "whether conversions of operands move out of loops"),
    "emu_tf32": ("rounding", "whether float32 products may be emulated by three of TF32"),
    "enable_fp_fusion": ("rounding", "whether a * b + c may be rounded once"),
    "disable_slp_vectorizer": ("no", "whether LLVM's SLP vectorizer does nothing"),
    "disable_vector_combine": ("no", "whether LLVM's vector-combine does nothing"),
}
#: The stage and the pass that `llvm_knobs` replaces.
_LEVELS = ("default<O1>", "default<O2>", "default<O3>", "default<Os>")
_EXTRA = ("function(instcombine,gvn)", "function(early-cse,reassociate,gvn)", "function(loop-mssa(licm))")


def builtin_knobs(stages: Iterable[StageRecord]) -> Iterator[Knob]:
    """Yields the knobs of the passes in `stages`, which were recorded without edits."""
    for stage in stages:
        own = [record for record in stage.passes if record.ordinal and record.ran]
        for number, record in enumerate(own):
            if stage.name != "llvm":
                yield from _of_pass(stage.name, record, own[number + 1] if number + 1 < len(own) else None)
            yield from _arguments(stage.name, record)
        if stage.name == "llvm" and own:
            yield from _llvm(own[0])


def effect_of(name: str) -> tuple[Effect, str]:
    """Returns whether results can change if the pass `name` does not run, and what the pass does."""
    for table, effect in ((OPTIONAL, "no"), (_ROUNDING, "rounding")):
        if name in table:
            return effect, table[name]  # type: ignore[return-value]
    own = name.rpartition(".")[2]
    for extension in extensions():  # a backend may run the pass of an extension, which is optional by itself
        manifest = extension.manifest
        if manifest is not None and manifest.kind == "pass" and extension.name == own:
            return "no", manifest.summary
    return "yes", "the kernel may need it"


def _of_pass(stage: str, record: PassRecord, following: PassRecord | None) -> Iterator[Knob]:
    anchor = f"{record.name}#{record.ordinal}"
    place = f"{stage}:{anchor}"
    effect, meaning = effect_of(record.name)
    yield Knob(
        f"skip {place}",
        "skip",
        "bool",
        (False, True),
        False,
        f"leave out the pass that would {meaning}" if effect != "yes" else f"leave out the pass; {meaning}",
        effect,
        searched=effect != "yes" and record.changed,
        place=place,
        texts=("", f"{stage}: skip({anchor})"),
    )
    again = _again(record)
    if effect == "yes" or again is None:
        return
    yield Knob(
        f"repeat {place}",
        "repeat",
        "bool",
        (False, True),
        False,
        f"run the pass twice: {meaning}",
        effect,
        searched=record.changed,
        place=place,
        texts=("", f"{stage}: after({anchor}, {again})"),
    )
    if following is not None and following.name != record.name and effect_of(following.name)[0] != "yes":
        moved = f"{stage}: skip({anchor}), after({following.name}#{following.ordinal}, {again})"
        yield Knob(
            f"move {place}",
            "move",
            "bool",
            (False, True),
            False,
            f"run the pass after {following.name} instead of before it: {meaning}",
            effect,
            searched=record.changed and following.changed,
            place=place,
            texts=("", moved),
        )


def _again(record: PassRecord) -> str | None:
    """Returns the text that places the pass once more with the same arguments; None if it cannot be placed."""
    try:
        add = find_builtin(record.name)
    except Exception:  # a pass of a backend's own library, which no edit can place
        return None
    values = dict(record.arguments)
    names = [name for name, _ in signatures.parameters(add)]
    if set(names) != set(values):
        return None
    return record.name + ("{" + " ".join(f"{name}={values[name]}" for name in names) + "}" if names else "")


def _arguments(stage: str, record: PassRecord) -> Iterator[Knob]:
    anchor = f"{record.name}#{record.ordinal}"
    for name, text in record.arguments:
        effect, meaning = _ARGUMENTS.get(name, ("yes", "the target needs this value, or it is for debugging"))
        default: Value = text == "true" if text in ("true", "false") else int(text) if text.isdecimal() else text
        choices: tuple[Value, ...] = (default,)
        if isinstance(default, bool):
            choices = (default, not default)
        elif isinstance(default, int):
            choices = tuple(range(1, 8)) if name == "num_stages" else powers(default)
            choices = choices if default in choices else (default, *choices)
        yield Knob(
            f"{stage}:{anchor}.{name}",
            "argument",
            type(default).__name__,
            choices if effect != "yes" else (default,),
            default,
            f"argument of {record.name}: {meaning}",
            effect,
            searched=effect != "yes" and len(choices) > 1 and (record.changed or name == "num_stages"),
            low=1 if name == "num_stages" else None,
            place=f"{stage}:{anchor}",
            texts=tuple("" if c == default else f"{stage}: set({anchor}, {name}={_shown(c)})" for c in choices)
            if effect != "yes"
            else ("",),
        )


def _shown(value: Value) -> str:
    return "" if value is None else text_of(value)


def _llvm(optimize: PassRecord) -> Iterator[Knob]:
    """Yields the knobs that replace LLVM's optimiser, or add passes after it."""
    replaced = tuple(f'llvm: replace({optimize.name}, llvm{{passes="{level}"}})' for level in _LEVELS)
    added = tuple(f'llvm: after({optimize.name}, llvm{{passes="{passes}"}})' for passes in _EXTRA)
    for name, choices, texts, meaning in (
        ("llvm pipeline", _LEVELS, replaced, "the pipeline with which LLVM optimises the kernel"),
        ("llvm after", _EXTRA, added, "passes of LLVM after its optimiser"),
    ):
        default = "backend's" if name == "llvm pipeline" else "none"
        yield Knob(
            name,
            "llvm pipeline",
            "choice",
            (default, *choices),
            default,
            meaning,
            "no",
            place=f"llvm:{optimize.name}#{optimize.ordinal}",
            texts=("", *texts),
        )
