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
    # A compilation that begins with IR behind this stage has no probes.
    lowering = tx.Pipeline().at_start("ttir", lower(keep=True), on_missing="ignore")
    lowering = lowering.at_end("ttir", lower(emit=True), on_missing="ignore")
    lowering = lowering.stage("ttir", _describe_target, on_missing="ignore")
    lowering = lowering.at_end("ttgir", tx.passes.ttgir.settle_regions(), on_missing="ignore")
    return lowering.stage("ttgir", _refuse_clusters, on_missing="ignore")


def _describe_target(source: Any, metadata: dict[str, Any], inner: Callable[[Any, dict[str, Any]], Any]) -> Any:
    """Runs the stage on a module that knows its target."""
    from triton._C.libtriton import ir

    target = metadata["target"]
    declared = backends.declared().get(target.backend)
    is_native = declared is not None and declared.target.endswith(":native")  # this machine's processor
    name = "x86-64" if is_native else f"{target.backend}:{target.arch}"
    builder = ir.builder(source.context)
    source.set_attr("probe.target", builder.get_string_attr(name))
    source.set_attr("probe.num_warps", builder.get_int32_attr(metadata["num_warps"]))
    source.set_attr("probe.warp_size", builder.get_int32_attr(metadata.get("warp_size", target.warp_size)))
    return inner(source, metadata)


def _refuse_clusters(source: Any, metadata: dict[str, Any], inner: Callable[[Any, dict[str, Any]], Any]) -> Any:
    """Refuses probes in a kernel with ``num_ctas > 1``, else runs the stage.

    Triton adds the number of the CTA to the address, too, so programs would look for the buffer elsewhere.
    """
    num_ctas = metadata.get("num_ctas", 1)
    table = table_in(str(source)) if num_ctas > 1 else None
    if table is None:
        return inner(source, metadata)
    kernel, sites = sites_in(table)
    found = "words of the launch are"
    for site in sites[:1]:
        found = f"{site.file}:{site.line}: the probe {site.kind} '{site.name}' is"
    raise PipelineError(
        f"{found} in the kernel '{kernel}', which is compiled with num_ctas={num_ctas}; expected num_ctas=1",
        fix="num_ctas=1, or TRITON_EXT_PROBE=0 for a session without probes",
    )
