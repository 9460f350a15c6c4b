# SPDX-License-Identifier: Apache-2.0
"""The pipeline with which kernels are compiled with their probes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import triton_ext as tx
from triton_ext import backends
from triton_ext.errors import PipelineError

from ._sites import sites_in, table_in


def pipeline() -> tx.Pipeline:
    """Returns the pipeline of a session, with which kernels are compiled with their probes.

    A session applies it. By itself it serves to look at what probes compile to, for any target: the kernels run, and
    their probes see nothing.
    """
    lower = tx.passes.ttir.lower_probe
    lowering = tx.Pipeline().at_start("ttir", lower(keep=True)).after("ttir:common.inliner", lower(emit=True))
    return lowering.stage("ttir", _lower)


def _lower(source: Any, metadata: dict[str, Any], inner: Callable[[Any, dict[str, Any]], Any]) -> Any:
    """Runs the stage on a module that knows its target, and refuses probes in a kernel with ``num_ctas > 1``."""
    from triton._C.libtriton import ir

    target = metadata["target"]
    declared = backends.declared().get(target.backend)
    is_native = declared is not None and declared.target.endswith(":native")  # this machine's processor
    name = "x86-64" if is_native else f"{target.backend}:{target.arch}"
    builder = ir.builder(source.context)
    source.set_attr("probe.target", builder.get_string_attr(name))
    source.set_attr("probe.num_warps", builder.get_int32_attr(metadata["num_warps"]))
    source.set_attr("probe.warp_size", builder.get_int32_attr(metadata.get("warp_size", target.warp_size)))
    module = inner(source, metadata)
    if metadata.get("num_ctas", 1) > 1:
        _refuse_clusters(module, metadata["num_ctas"])
    return module


def _refuse_clusters(module: Any, num_ctas: int) -> None:
    """Raises an error if the kernel has probes.

    Triton adds the number of the CTA to the address, too, so programs would look for the buffer elsewhere.
    """
    table = table_in(str(module))
    if table is None:
        return
    kernel, (site, *_) = sites_in(table)
    raise PipelineError(
        f"{site.file}:{site.line}: the probe {site.kind} '{site.name}' is in the kernel '{kernel}', which is compiled "
        f"with num_ctas={num_ctas}; expected num_ctas=1",
        fix="num_ctas=1, or TRITON_EXT_PROBE=0 for a session without probes",
    )
