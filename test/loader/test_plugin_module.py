# SPDX-License-Identifier: Apache-2.0
"""Triton's ``passes.plugin.add_<name>``, for programs that fill a pass manager themselves."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import triton
from triton._C.libtriton import ir, passes
from triton.backends.compiler import GPUTarget

import triton_ext as tx

if TYPE_CHECKING:
    from support.fixture_types import MakePlugin, RunPython

WHEEL = Path(triton.__file__).parent / "plugins" / "libTritonPluginsTestLib.so"


@pytest.fixture
def module(tmp_path: Path) -> Any:
    """Returns a module with one function, ``@f``."""
    context = ir.context()
    ir.load_dialects(context)
    (source := tmp_path / "module.mlir").write_text("tt.func public @f() { tt.return }\n")
    parsed = ir.parse_mlir_module(str(source), context)
    parsed.context = context
    return parsed


def run(module: Any, add: Callable[..., None], *args: Any, **options: Any) -> str:
    manager = ir.pass_manager(module.context)
    add(manager, *args, **options)
    manager.run(module, "by hand")
    return str(module)


def test_a_pass_is_there_when_its_library_is(module: Any) -> None:
    assert not hasattr(passes.plugin, "add_plugin")
    tx.load(WHEEL)
    assert "@foo(" in run(module, passes.plugin.add_plugin)


@pytest.mark.parametrize("arguments", [([],), ((),), ()])
def test_the_arguments_are_those_of_triton(module: Any, arguments: tuple[Any, ...]) -> None:
    tx.load(WHEEL)
    assert "@foo(" in run(module, passes.plugin.add_plugin, *arguments)
    assert "@foo_num_warps_8(" in run(module, passes.plugin.add_plugin, args=["8"])
    with pytest.raises(TypeError, match="add_plugin"):
        run(module, passes.plugin.add_plugin, "no list")


@pytest.mark.slow
@pytest.mark.parametrize("variable", ["TRITON_PASS_PLUGIN_PATH", "TRITON_PLUGIN_PATHS"])
def test_the_environment_is_enough(variable: str, run_python: RunPython) -> None:
    """It works in a program that does not import triton-ext."""
    done = run_python(
        "from triton._C.libtriton import ir, passes\n"
        "manager = ir.pass_manager(ir.context())\n"
        "passes.plugin.add_plugin(manager)\n"
        "print(manager.get_pipeline_str())\n",
        **{variable: str(WHEEL)},
    )
    assert done.stdout.startswith("any(tritongpu-plugin"), done.stderr


def test_our_own_are_there_and_check_their_options(module: Any) -> None:
    assert "@g(" in run(module, passes.plugin.add_rename, ["old=f", "new=g"])
    with pytest.raises(ValueError, match="nwe"):
        run(module, passes.plugin.add_rename, ["nwe=g"])


def test_what_is_not_there_says_what_is() -> None:
    with pytest.raises(AttributeError, match="no extension offers a pass 'renam'; did you mean 'rename'"):
        passes.plugin.add_renam  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'rename'"):
        passes.plugin.rename  # noqa: B018


@pytest.mark.slow
def test_dir_lists_the_passes(make_plugin: MakePlugin, tmp_path: Path) -> None:
    listed = dir(passes.plugin)
    assert {"add_rename", "extend_with"} <= set(listed)
    assert all(callable(getattr(passes.plugin, name)) for name in listed if name.startswith("add_"))
    tx.load(make_plugin(tmp_path / "plain.so"))
    assert set(dir(passes.plugin)) - set(listed) == {"add_plain"}


@pytest.mark.slow
def test_two_of_one_name_are_an_error_that_names_both(make_plugin: MakePlugin, tmp_path: Path) -> None:
    one, other = (make_plugin(tmp_path / name) for name in ("one.so", "other.so"))
    tx.load(one)
    kept = passes.plugin.add_plain
    with pytest.raises(tx.DuplicateExtensionError):
        tx.load(other)
    os.environ["TRITON_PASS_PLUGIN_PATH"] = str(other)
    try:
        for use in (lambda: passes.plugin.add_plain, lambda: kept(None), lambda: tx.digest("plain")):
            with pytest.raises(tx.DuplicateExtensionError, match="'plain' is also claimed by") as caught:
                use()
            assert {str(one), str(other)} <= set(re.split(r"[ :]", str(caught.value)))
    finally:
        del os.environ["TRITON_PASS_PLUGIN_PATH"]
    assert passes.plugin.add_plain


@pytest.mark.slow
def test_a_rebuilt_library_runs_and_has_another_digest(install_stamp: Callable[[str], None], module: Any) -> None:
    install_stamp("v1")
    add, before = passes.plugin.add_stamp, tx.digest("stamp")
    assert "@f_v1(" in run(module, add)
    install_stamp("v2")
    assert "@f_v1_v2(" in run(module, add)
    assert tx.digest("stamp") != before
    install_stamp("v1")
    assert tx.digest("stamp") == before


@triton.jit
def nothing():
    return


@pytest.mark.slow
@pytest.mark.parametrize("with_digest", [True, False])
def test_the_digest_in_the_key_of_a_hook(
    with_digest: bool, install_stamp: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the digest in the key, a rebuilt library gives a new kernel; without it, the old kernel comes back from
    disk."""

    def hook(
        backend: Any = None, stages: Any = None, options: Any = None, language: Any = None, capability: Any = None
    ) -> tuple[str, str]:
        key = tx.digest("stamp") if with_digest else "stamp"
        if stages is None:
            return key, key

        def make_ttir(source: Any, metadata: dict[str, Any]) -> Any:
            made = backend.make_ttir(source, metadata, options, capability)
            run(made, passes.plugin.add_stamp)
            return made

        stages["ttir"] = make_ttir
        return key, key

    monkeypatch.setattr(triton.knobs.runtime, "add_stages_inspection_hook", hook)
    names = []
    for version in ("v1", "v2", "v1"):
        install_stamp(version)
        source = triton.compiler.ASTSource(nothing, {}, {})
        names.append(triton.compile(source, target=GPUTarget("cuda", 90, 32)).metadata.name)
    assert names == (["nothing_v1", "nothing_v2", "nothing_v1"] if with_digest else ["nothing_v1"] * 3)


@pytest.mark.slow
def test_the_digest_follows_the_library_that_is_chosen(
    make_plugin: MakePlugin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    one = make_plugin(tmp_path / "one" / "lib.so")
    other = make_plugin(tmp_path / "other" / "lib.so", VERSION='"2"')
    digests = []
    for path in (one, other):
        monkeypatch.setenv("TRITON_PASS_PLUGIN_PATH", str(path))
        digests.append(tx.digest("plain"))
    monkeypatch.setenv("TRITON_PASS_PLUGIN_PATH", str(tmp_path / "one"))
    assert tx.digest("plain") == digests[0] != digests[1]
    one.unlink()
    with pytest.raises(tx.ExtensionNotFoundError, match="'plain'"):
        tx.digest("plain")
    shutil.copy(other, tmp_path / "one" / "moved.so")
    assert tx.digest("plain") == digests[1]
    assert tx.digest("plain", "rename") != tx.digest("rename", "plain")


@pytest.mark.slow
def test_who_calls_tritons_own_loader_gets_what_that_binds(run_python: RunPython) -> None:
    """nanobind would end the process if a Python function had that name."""
    done = run_python(
        "from triton._C.libtriton import ir, passes\n"
        "offered = passes.plugin.add_plugin\n"
        f"passes.plugin.extend_with({str(WHEEL)!r})\n"
        "assert type(passes.plugin.add_plugin) is not type(offered)\n"
        "for add in (offered, passes.plugin.add_plugin):\n"
        "    add(manager := ir.pass_manager(ir.context()))\n"
        "    print(manager.get_pipeline_str())\n",
        TRITON_PASS_PLUGIN_PATH=str(WHEEL),
    )
    assert done.stdout.splitlines() == ["any(tritongpu-plugin{num-warps=4})"] * 2, done.stderr
