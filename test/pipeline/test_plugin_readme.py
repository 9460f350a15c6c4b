# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of Triton's plugin documentation as printed, in ``plugin_readme``; see docs/plugin-examples.md.

The examples do not import all that they use, and Python rejects the indentation of two functions of the fourth:
`_repaired` corrects this and nothing else. A run differs from the printed examples in two ways. The device is a
stand-in for a GPU, or the CPU, whose stage after ttir is cpuir. And Triton 3.9's ``make_ttgir`` uses a function that
the fourth example does not import.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
import triton

import support
from support import forked_python

HERE = Path(__file__).parent
PLUGIN = Path(triton.__file__).parent / "plugins" / "libTritonPluginsTestLib.so"
IMPORTS = "import hashlib, importlib.util, inspect, pathlib, sys, textwrap\n"
#: The imports that the fourth writes before the dumped functions, and the import that `make_ttgir` also needs.
LIBTRITON = "from triton._C.libtriton import ir, passes, llvm, amd, nvidia"
ENABLED = r"\nfrom triton.backends.nvidia.compiler import is_enabled"
#: Replaces the device; stands in front of the example.
GPU = f"""\
import sys
sys.path.insert(0, {support.PATH!r})
from support.tuning import standin
import torch

standin.activate()
standin.Driver.get_active_torch_device = lambda self: torch.device("cpu")
standin.COMPUTE = dict.fromkeys(("kernel", "kernel1", "kernel2"), lambda arguments, factor: None)
"""


def _printed(number: int) -> str:
    return (HERE / "plugin_readme" / f"example{number}.txt").read_text()


def _repaired(number: int) -> str:
    text = _printed(number)
    if number == 3:  # this is the hook of the second example, printed alone
        whole = _printed(2)
        begin, end = whole.index("def inspect_stages_hook"), whole.index("if __name__")
        text = whole[:begin] + text + "\n" + whole[end:]
    if number == 4:
        text = re.sub(r"^  (if all|return get_key)", r"    \1", text, flags=re.MULTILINE)
    return IMPORTS + text


@pytest.fixture(params=["cuda:90", "cpu"])
def run(request: pytest.FixtureRequest, tmp_path: Path):
    """Runs an example; returns the names of the kernels that it prints."""

    def run(number: int) -> list[str]:
        program, on_cpu = _repaired(number), request.param == "cpu"
        if number == 4 and not on_cpu:
            program = program.replace(LIBTRITON, LIBTRITON + ENABLED)
        program = program.replace("ttgir", "cpuir") if on_cpu else GPU + program
        (tmp_path / "test.py").write_text(program)
        environment = {**os.environ, "TRITON_PASS_PLUGIN_PATH": str(PLUGIN)}
        environment |= {"TRITON_DEFAULT_BACKEND": "cpu"} if on_cpu else {}
        done = forked_python.run([sys.executable, "test.py"], cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stderr
        return re.findall(r"func(?: public)? @(\w+)\(", done.stdout)

    return run


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 3])
def test_hook_on_hook_off(number: int, run) -> None:
    assert run(number) == ["kernel", "foo", "kernel"]


@pytest.mark.slow
def test_a_dump_of_the_pipeline_edited_and_run(run, tmp_path: Path) -> None:
    assert run(4) == ["foo"]
    assert "passes.plugin.add_plugin(pm)" in (tmp_path / "compiler_override.py").read_text()
