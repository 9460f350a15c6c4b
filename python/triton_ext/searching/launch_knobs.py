# SPDX-License-Identifier: Apache-2.0
"""The knobs of a launch: the constexprs of the kernel's declared configurations, and the options of the backend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..pipeline.records import StageRecord
from .knobs import Effect, Knob, Value

#: Options of Triton's backends that may be turned: the values to try, whether results can change, the meaning.
OPTIONS: dict[str, tuple[tuple[Value, ...], Effect, str]] = {
    "num_warps": ((1, 2, 4, 8, 16), "rounding", "the number of warps of a program"),
    "num_stages": ((1, 2, 3, 4, 5, 6), "no", "the number of software pipeline stages"),
    "maxnreg": ((None, 64, 96, 128, 168, 232), "no", "the most registers of a thread"),
    "enable_fp_fusion": ((True, False), "rounding", "whether a * b + c may be rounded once"),
    "num_threads": ((0, 1, 2), "no", "the number of threads of a launch; 0: one for each processor"),
    "waves_per_eu": ((0, 1, 2, 3, 4), "no", "the wavefronts for each execution unit that AMD's compiler aims at"),
    "matrix_instr_nonkdim": ((0, 16, 32), "rounding", "the size of AMD's matrix instructions"),
    "kpack": ((1, 2), "rounding", "how many elements of AMD's matrix instructions are packed along k"),
    "sched4reg": ((False, True), "no", "whether LLVM schedules NVIDIA's instructions for few registers"),
    "ptx_options": (
        (None, "--opt-level 1", "--opt-level 2", "--allow-expensive-optimizations false", "--def-load-cache cg"),
        "rounding",  # ptxas may fuse other multiplications and additions
        "options of ptxas",
    ),
    "llvm_fn_attrs": (
        ("", *(f"amdgpu-sched-strategy={name}" for name in ("max-ilp", "max-memory-clause", "iterative-ilp"))),
        "no",
        "attributes of functions for AMD's code generator: how it schedules instructions",
    ),
    "wgp_cu_mode": (("wgp", "cu"), "no", "whether a workgroup of AMD's gfx10 to gfx12 uses two compute units or one"),
    "allow_flush_denorm": ((False, True), "yes", "whether AMD's kernels may flush denormal numbers to zero"),
}
#: Options that only count for the passes that take them, and the options that ptxas takes.
_BY_PASSES = ("num_warps", "num_stages")


def launch_knobs(
    configs: Sequence[Mapping[str, Any]], options: Mapping[str, Any], stages: Iterable[StageRecord], backend: str
) -> Iterator[Knob]:
    """Yields the knobs of launches.

    Args:
        configs: the declared configurations, as keyword arguments of a launch; the first is the default.
        options: the options of the backend by name, with their values in the recorded compilation.
        stages: the passes of that compilation, which tell which options matter.
        backend: the target's backend; ``maxnreg`` is for ptxas.
    """
    named = {name for stage in stages for record in stage.passes for name, _ in record.arguments}
    for name in dict.fromkeys(name for config in configs for name in config):
        if name not in options:
            seen = dict.fromkeys(config[name] for config in configs if name in config)
            values = tuple(sorted(seen, key=lambda value: (isinstance(value, str), value)))
            default = configs[0].get(name, values[0])
            yield Knob(
                name,
                "constexpr",
                type(default).__name__,
                values,
                default,
                "constexpr of the kernel's configurations",
                "rounding",
                searched=len(values) > 1,
            )
    for name, (values, effect, meaning) in OPTIONS.items():
        if name not in options or (name in _BY_PASSES and name not in named):
            continue
        if name == "maxnreg" and backend != "cuda":
            continue
        if name == "wgp_cu_mode" and not str(options.get("arch")).startswith("gfx1"):
            continue
        default = "" if isinstance(options[name], tuple | list) else options[name]  # Triton parses attributes
        declared = [config[name] for config in configs if config.get(name) is not None]
        first: Value = declared[0] if configs and configs[0].get(name) is not None else default
        known = dict.fromkeys((*values, *declared, first))
        yield Knob(
            name,
            "launch option",
            type(next(v for v in known if v is not None)).__name__,
            tuple(sorted(known, key=lambda value: (value is not None, value))),
            first,
            meaning,
            effect,
            searched=effect != "yes",
            low=1 if name in ("num_warps", "num_stages") else None,
        )
