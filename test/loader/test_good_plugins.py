# SPDX-License-Identifier: Apache-2.0
"""Plugins that are not built with triton-ext are used like our own: the two in the Triton wheel, and one in plain C."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import triton_ext as tx
from triton_ext.loading.loader import load_library

if TYPE_CHECKING:
    from support.fixture_types import MakePlugin, RunPython

WHEEL = Path(triton.__file__).parent / "plugins"


@triton.jit
def copy(x, y):
    tl.store(y, tl.load(x))


def compile_copy() -> dict[str, Any]:
    source = ASTSource(copy, {"x": "*fp32", "y": "*fp32"}, {})
    asm: dict[str, Any] = triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm
    return asm


@pytest.mark.slow
@pytest.mark.parametrize(
    ("library", "passes", "dialects", "ops"),
    [
        ("libTritonPluginsTestLib.so", ("plugin",), (), ()),
        ("libMLIRDialectPlugin.so", ("plugingpu_conversion",), ("DialectPlugin",), ("custom_op",)),
    ],
)
def test_plugins_of_the_wheel(
    library: str, passes: tuple[str, ...], dialects: tuple[str, ...], ops: tuple[str, ...]
) -> None:
    extension = tx.load(WHEEL / library)
    assert extension.plugin is not None
    assert (extension.kind, extension.stage, extension.problem) == ("plugin", None, None)
    assert (extension.plugin.passes, extension.plugin.dialects, extension.plugin.ops) == (passes, dialects, ops)
    assert set(load_library(extension).add) == set(passes)
    assert tx.load(WHEEL / library) == extension  # loading it again is not an error


@pytest.mark.slow
def test_list_as_table_and_json(run_python: RunPython) -> None:
    table = run_python("-m", "triton_ext", "list", TRITON_PLUGIN_PATHS=str(WHEEL))
    *built_in, dialect, plain = (line.split()[0] for line in table.stdout.splitlines()[1:])
    assert "rename" in built_in
    assert (dialect, plain) == ("DialectPlugin", "TritonPlugin")
    done = run_python("-m", "triton_ext", "list", "--json", TRITON_PLUGIN_PATHS=str(WHEEL))
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert rows["DialectPlugin"]["ops"] == ["custom_op"]
    assert rows["rename"]["stage"] == "ttir"
    assert [option["name"] for option in rows["rename"]["options"]] == ["old", "new"]
    assert not any(row["problem"] for row in rows.values())


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["ttir", "ttgir"])
def test_foreign_pass_in_a_pipeline(stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheel's test pass renames every function to ``foo``."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    tx.load(WHEEL / "libTritonPluginsTestLib.so")
    before = compile_copy()
    with tx.Pipeline().at_end(stage, tx.passes.plugin.plugin()):
        inside = compile_copy()
    assert "@copy(" in before[stage]
    assert "@copy(" not in inside[stage]
    assert "@foo(" in inside[stage]
    assert compile_copy()["ttir"] == before["ttir"]


def test_foreign_pass_takes_strings() -> None:
    tx.load(WHEEL / "libTritonPluginsTestLib.so")
    assert tx.passes.plugin.plugin("a", "b=1").args == ("a", "b=1")
    for args, options in (((1,), {}), ((None,), {}), ((), {"a": 1})):
        with pytest.raises(tx.PipelineError, match="'plugin' takes its arguments as strings"):
            tx.passes.plugin.plugin(*args, **options)


def test_dialect_and_op_are_registered(tmp_path: Path) -> None:
    from triton._C.libtriton import ir

    tx.load(WHEEL / "libMLIRDialectPlugin.so")
    assert hasattr(ir.builder, "create_custom_op")
    context = ir.context()
    ir.load_dialects(context)
    builder = ir.builder(context)
    builder.set_loc("here", 1, 1)
    module = builder.create_module()
    function_type = builder.get_function_ty([builder.get_float_ty()], [])
    function = builder.get_or_insert_function(module, "f", function_type, "public", False)
    builder.set_insertion_point_to_start(function.add_entry_block())
    builder.create_custom_op([function.args(0)])
    module.push_back(function)
    assert '"arith.addf"' in str(module)  # the operations that the op expands to

    (source := tmp_path / "magic.mlir").write_text(
        'tt.func @f(%a: i32) { %0 = "plugin.magic"(%a) : (i32) -> i32 \n tt.return }\n'
    )
    assert "plugin.magic" in str(ir.parse_mlir_module(str(source), context))


@pytest.mark.slow
def test_plain_c(make_plugin: MakePlugin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plugin has no MLIR, no DT_NEEDED of libtriton, a name with a dash, and its own library beside it."""
    helper = tmp_path / "helper.c"
    helper.write_text("int helper(void) { return 0; }\n")
    make_plugin(tmp_path / "libhelper.so", source=helper, flags=("-fvisibility=default", "-Wl,-soname,libhelper.so"))
    path = make_plugin(
        tmp_path / "plain.so",
        PASSES='{"plain","1",add,registerSelf},{"with-dash","1",add,registerSelf}',
        BEFORE_ANSWER="extern int helper(void); helper()",
        flags=(f"-L{tmp_path}", "-lhelper", "-Wl,-rpath,$ORIGIN"),
    )
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    tx.load(path)
    dashed = getattr(tx.passes.plugin, "with-dash")
    with tx.Pipeline().at_end("ttir", tx.passes.plugin.plain(), dashed("x")):
        assert "@copy(" in compile_copy()["ttir"]
