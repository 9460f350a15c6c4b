# SPDX-License-Identifier: Apache-2.0
"""An agent's session from start to finish, with the client of the package `mcp`; its transcript is the test."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import support

if importlib.util.find_spec("mcp") is None:  # importing it takes a second
    pytest.skip("mcp is not installed", allow_module_level=True)
pytest.importorskip("torch")
optuna = pytest.importorskip("optuna")
pytestmark = pytest.mark.slow

DOUBLE = {"kernel": "kernels.py:double", "inputs": "kernels.py:numbers"}
FOR_CUDA = {"kernel": "kernels.py:double", "signature": "*fp32:16, *fp32:16, i32, 64", "target": "cuda:90"}
Call = Callable[..., Awaitable[tuple[str, dict[str, Any]]]]


def write_study(file: Path) -> None:
    """Writes a study of two trials as a search keeps it."""
    from triton_ext.searching.history import RECORD, Trial

    study = optuna.create_study(storage=f"sqlite:///{file}", study_name="double cpu")
    for record in (
        Trial(0, "ok", {}, {"num_warps": 4}, milliseconds=0.2, objectives=(0.2,)),
        Trial(1, "wrong result", {"skip": True}, {}, "ttir: skip(common.cse#1)", reason="launch 1: y: 7 differ"),
        Trial(2, "ok", {"num_warps": 8}, {"num_warps": 8}, milliseconds=0.1, objectives=(0.1,)),
    ):
        trial = study.ask()
        trial.set_user_attr(RECORD, record.text())
        study.tell(
            trial, list(record.objectives) or None, state=None if record.objectives else optuna.trial.TrialState.FAIL
        )


async def session(call: Call) -> None:
    """Calls every tool as an agent would, and checks each answer."""
    text, figures = await call("list_kernels")
    assert "kernel double(x, y, n, BLOCK: tl.constexpr)" in text
    assert "numbers" in text

    text, figures = await call("list_passes", origin="extensions", stage="ttir")
    assert "loop_split {max-splits" in text
    assert figures["passes"] > 5
    text, _ = await call("list_passes", search="coalesce", origin="triton")
    assert "ttgpuir.coalesce [ttgir]: Give loads and stores layouts" in text

    text, figures = await call("describe_pass", name="loop_split")
    assert "the loop becomes two or more" in text
    assert "max-splits (int, 0 to 4294967295, default 2)" in text
    assert figures["options"]["guard"] == {"type": "bool", "default": "false"}
    text, figures = await call("describe_pass", name="ttgpuir.assign_latencies")
    assert figures["arguments"] == {"num_stages": "int"}
    text, _ = await call("describe_pass", name="loop_spilt", expected="input error")
    assert "did you mean 'loop_split'?" in text

    text, figures = await call("describe_pipeline", **FOR_CUDA)
    assert "ttgpuir.coalesce" in text
    assert figures["passes"]["ttgir"] > 20

    text, figures = await call(
        "compile_kernel", **FOR_CUDA, options={"num_warps": 2}, pipeline="ttir: skip(common.cse)"
    )
    assert "ttir: - common.cse" in text
    assert figures["resources"]["num_warps"] == 2
    assert 0 < figures["resources"]["registers"] < 256
    assert figures["resources"]["code_size"] == figures["unedited"]["code_size"]
    text, _ = await call("compile_kernel", **FOR_CUDA, pipeline="ttgir: skip(coalesced)", expected="compile error")
    assert "did you mean 'ttgpuir.coalesce'?" in text
    assert "the anchors, in order, are" in text
    text, _ = await call("compile_kernel", **FOR_CUDA, pipeline="ttgir: skip(", expected="pipeline error")
    assert "character 13: expected an anchor" in text
    text, _ = await call("compile_kernel", kernel="kernels.py:double", signature="*fp32", expected="input error")
    assert "'double' takes x, y, n, BLOCK" in text

    text, figures = await call("diff_ir", **FOR_CUDA, what="ttgir", after="coalesce")
    assert figures["added"] > 0
    assert "+    " in text
    text, figures = await call("diff_ir", **DOUBLE, what="ttir", pipeline="ttir: skip(common.cse)")
    assert text.startswith("ttir: - no edits, + ttir: skip(common.cse): ")
    text, figures = await call("read_ir", **FOR_CUDA, what="ptx", pattern=r"st\.global", context=0)
    assert "st.global" in text
    assert figures["shown"] == text.count("st.global") == 1
    text, figures = await call("read_ir", **DOUBLE, target="hip:gfx942", what="amdgcn", pattern="global_store")
    assert "global_store" in text
    text, figures = await call("read_ir", **FOR_CUDA, what="ttir", lines="2-3")
    assert figures["shown"] == 2
    assert " 2  " in text
    text, _ = await call("read_ir", **FOR_CUDA, what="cubin", expected="input error")
    assert "'cubin' is a binary; there is: ttir, ttgir, llir, ptx, sass" in text

    text, figures = await call("check_kernel", **DOUBLE, pipeline="ttir: skip(common.cse)")
    assert figures == {"status": "ok", "launches": 3, "wrong": 0, "bit_equal": True}
    assert "launch 1, unaligned: bit-equal" in text
    text, figures = await call("check_kernel", **DOUBLE, options={"BLOCK": 32}, expected="wrong result")
    assert "WRONG: y: " in text
    assert "Mismatched elements: 128 / 256 (50.0%)" in text
    assert figures["wrong"] == 3
    unmasked = {**DOUBLE, "kernel": "kernels.py:unmasked"}
    text, _ = await call("check_kernel", **unmasked, options={"BLOCK": 128}, expected="wrong result")
    assert "y: the kernel has written outside of the tensor" in text
    accumulate = {**DOUBLE, "kernel": "kernels.py:accumulate"}
    assert (await call("check_kernel", **accumulate, variants=False))[1]["launches"] == 1
    await call("check_kernel", **accumulate, options={"BLOCK": 32}, expected="wrong result")
    text, _ = await call(
        "check_kernel", kernel="kernels.py:tuned", inputs="kernels.py:without_block", expected="input error"
    )
    assert "is autotuned and 'BLOCK' is not given; its configurations: {'BLOCK': 64, 'num_warps': 2" in text
    # The kernel's own pipeline is there with and without its tuner.
    tuned = {"kernel": "kernels.py:tuned", "inputs": "kernels.py:numbers"}
    text, figures = await call("describe_pipeline", **tuned)
    assert "dropped by ttir: skip(common.cse)" in text
    assert (await call("check_kernel", **tuned, options={"BLOCK": 128}))[1]["bit_equal"]
    grid = {"kernel": "kernels.py:double", "inputs": "kernels.py:without_grid"}
    await call("check_kernel", **grid, grid=[4], variants=False)
    await call("check_kernel", **grid, grid="kernels.py:grid_of", options={"BLOCK": 32}, variants=False)
    await call("check_kernel", **{**grid, "inputs": "gridded.py:without_grid"}, variants=False)
    assert "has no grid" in (await call("check_kernel", **grid, expected="input error"))[0]

    quick = {"rounds": 2, "milliseconds": 2}
    text, figures = await call("measure_kernel", **DOUBLE, **quick, pipeline="ttir: skip(common.cse)")
    assert "both compile to the same binary" in text
    text, _ = await call("measure_kernel", **DOUBLE, **quick, options={"num_threads": 1})  # the same code
    assert "candidate: no edits (num_threads=1)" in text
    assert "same binary" not in text
    await call("measure_kernel", **DOUBLE, **quick, options={"BLOCK": 32}, expected="wrong result")
    two = {**DOUBLE, "inputs": "kernels.py:two_launches"}
    text, figures = await call("measure_kernel", **two, **quick, options={"BLOCK": 128}, launch=2)
    (row,) = figures["launches"]
    assert row["lowest"] <= row["speedup"] <= row["highest"]
    assert row["incumbent_ms"] > 0 < row["candidate_ms"]

    text, figures = await call("search_space", **FOR_CUDA)
    assert "loop_split [extension pass; off, ttir start" in text
    assert figures["knobs"] > figures["searched"] == figures["shown"] > 10
    text, figures = await call("search_history")
    assert figures["best"] == {"number": 2, "pipeline": "", "options": {"num_warps": 8}, "milliseconds": 0.1}
    assert figures["statuses"] == {"ok": 2, "wrong result": 1}
    assert "trial 1: wrong result: ttir: skip(common.cse#1): launch 1: y: 7 differ" in text
    text, _ = await call("measure_kernel", **DOUBLE, **quick, against_study="double cpu")
    assert "incumbent: no edits (num_warps=8)" in text
    await call("measure_kernel", **DOUBLE, **quick, against_study="other", expected="input error")


def test_the_session(tmp_path: Path) -> None:
    import anyio
    from mcp import Client, StdioServerParameters, stdio_client

    root = tmp_path / "root"
    root.mkdir()
    shutil.copy(support.ROOT / "test" / "support" / "agent_server" / "kernels.py", root)
    (root / "gridded.py").write_text("from kernels import double, without_grid\n\ngrid = (4,)\n")
    write_study(tmp_path / "study.db")
    transcript: list[str] = []

    async def scripted() -> None:
        command = ["-m", "triton_ext", "mcp", "--root", str(root), "--storage", str(tmp_path / "study.db")]
        variables = support.environment(TRITON_DEFAULT_BACKEND="cpu", TRITON_CACHE_DIR=str(tmp_path / "kernels"))
        server = StdioServerParameters(command=sys.executable, args=command, env=variables)
        async with Client(stdio_client(server), mode="legacy") as client:
            assert client.server_info.name == "triton-ext"
            tools = (await client.list_tools()).tools
            called: set[str] = set()

            async def call(tool: str, expected: str = "ok", **arguments: object) -> tuple[str, dict[str, Any]]:
                called.add(tool)
                result = await client.call_tool(tool, arguments)
                status, _, text = result.content[0].text.partition("\n\n")
                transcript.append(f"{tool} {arguments}\n{result.content[0].text}\n")
                assert status == f"status: {expected}", text
                assert result.structured_content["status"] == expected
                assert result.is_error == (expected == "input error")
                return text, result.structured_content

            for tool in tools:
                assert len(tool.description) > 60
                assert all("description" in each for each in tool.input_schema["properties"].values()), tool.name
            await session(call)
            assert called == {tool.name for tool in tools}

    try:
        anyio.run(scripted)
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            (error, *_) = error.exceptions
        raise error from None
    finally:
        print("\n".join(transcript))
