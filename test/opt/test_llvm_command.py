# SPDX-License-Identifier: Apache-2.0
"""The command line of ``triton-ext-opt --llvm``: what it takes, and what it says of the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_ext.driver import main

MODULE = "define i32 @f(i32 %a) {\n  %b = add i32 %a, 0\n  ret i32 %b\n}\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Writes the module, and makes its directory the working directory."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "module.ll"
    path.write_text(MODULE)
    return path


def code_of(*arguments: str) -> object:
    with pytest.raises(SystemExit) as ended:
        main(["--llvm", *arguments])
    return ended.value.code


def test_a_pipeline_runs(file: Path) -> None:
    assert code_of("module.ll", "-passes=instcombine", "-S", "-o", "out.ll") == 0
    assert "ret i32 %a" in Path("out.ll").read_text()


@pytest.mark.parametrize("arguments", [(), ("-passes=",)])
def test_without_passes_the_module_is_printed(
    arguments: tuple[str, ...], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of("module.ll", *arguments) == 0
    assert "%b = add i32 %a, 0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.ll"], "nowhere.ll: No such file or directory"),
        (["."], ".: Is a directory"),
        (["bitcode.bc"], "bitcode.bc: not a text; LLVM's bitcode has to go through llvm-dis first"),
        (["module.ll", "-o", "nowhere/out.ll"], "nowhere/out.ll: No such file or directory"),
        (["module.ll", "-passes=nowhere"], "unknown pass name 'nowhere'"),
        (["module.ll", "-passes=gvm"], "unknown pass name 'gvm'; did you mean 'gvn'?"),
        (
            ["module.ll", "-passes=function(gvn,instcombin<y>)"],
            "unknown function pass 'instcombin<y>'; did you mean 'instcombine'?",
        ),
        (["module.ll", "-passes=gvn", "-mcpu=sm_90"], "the processor 'sm_90' needs a module with a target triple"),
    ],
)
def test_an_error_is_one_line(arguments: list[str], message: str, file: Path) -> None:
    Path("bitcode.bc").write_bytes(b"BC\xc0\xde" + bytes(range(128, 256)))
    assert code_of(*arguments) == f"triton-ext-opt: error: {message}"


def test_features_need_their_processor(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of("module.ll", "-mattr=+avx2") == 2
    assert "-mattr needs -mcpu" in capsys.readouterr().err
