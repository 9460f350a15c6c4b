# SPDX-License-Identifier: Apache-2.0
"""The pipeline with which kernels are compiled with their probes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import triton_ext as tx
from triton_ext.errors import PipelineError

from ._sites import sites_in, table_in


def pipeline() -> tx.Pipeline:
    """Returns the pipeline of a session, with which kernels are compiled with their probes.

    A session applies it. By itself it serves to look at what probes compile to, for any target: the kernels run, and
    their probes see nothing.
    """
    lower = tx.passes.ttir.lower_probe
    lowering = tx.Pipeline().at_start("ttir", lower(keep=True)).after("ttir:common.inliner", lower(emit=True))
    return lowering.stage("ttir", _refuse_clusters)


def _refuse_clusters(source: Any, metadata: dict[str, Any], inner: Callable[[Any, dict[str, Any]], Any]) -> Any:
    """Runs the stage, and refuses probes in a kernel with ``num_ctas > 1``.

    Triton adds the number of the CTA to the address, too, so programs would look for the buffer elsewhere.
    """
    module = inner(source, metadata)
    num_ctas = metadata.get("num_ctas", 1)
    table = table_in(str(module)) if num_ctas > 1 else None
    if table is None:
        return module
    kernel, (site, *_) = sites_in(table)
    raise PipelineError(
        f"{site.file}:{site.line}: the probe {site.kind} '{site.name}' is in the kernel '{kernel}', which is compiled "
        f"with num_ctas={num_ctas}; expected num_ctas=1",
        fix="num_ctas=1, or TRITON_EXT_PROBE=0 for a session without probes",
    )
