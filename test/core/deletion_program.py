# SPDX-License-Identifier: Apache-2.0
"""Uses the installation: lists the extensions, loads each, and compiles a kernel with an edited pipeline and for each
target.

Prints what ``triton-ext list --json`` prints. The last line is JSON, too: the problem of each extension, the passes
that ran for the edited kernel, and the error of each target. A problem or an error is null if there is none.
"""

from __future__ import annotations

import json

import triton
import triton.language as tl

import triton_ext as tx
from triton_ext import backends
from triton_ext.cli import cli
from triton_ext.loading.loader import load_library


@triton.jit
def scale(x, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) * 2)


def main() -> None:
    cli.main(["list", "--json"], standalone_mode=False)
    found = tx.extensions()
    for extension in found:
        if not extension.problem and extension.kind != "backend":
            load_library(extension)
    pipeline = tx.Pipeline().after("ttir.loop_unroll", tx.builtin.common.cse())
    described = tx.describe(scale, target="cuda:90", signature="*fp32, 64", pipeline=pipeline)
    passes = [p.name for stage in described.stages for p in stage.passes]
    targets = {}
    for name, backend in backends.declared().items():
        try:
            tx.describe(scale, target=backend.target, signature="*fp32, 64")
            targets[name] = None
        except tx.TritonExtError as error:
            targets[name] = type(error).__name__
    print(json.dumps({"extensions": {e.name: e.problem for e in found}, "passes": passes, "targets": targets}))


if __name__ == "__main__":
    main()
