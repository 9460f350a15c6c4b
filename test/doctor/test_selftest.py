# SPDX-License-Identifier: Apache-2.0
"""The ABI self-test is green if all is well, and red in the right place for each way of building it incorrectly."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from triton_ext.authoring import selftest
from triton_ext.authoring.selftest import Check, SelfTestResult, run_selftest
from triton_ext.sdk import Sdk
from triton_ext.support.child import Ended

if TYPE_CHECKING:
    from support.fixture_types import BuildSelfTest

GROUPS = {
    "conversion", "containers", "diagnostics", "encodings", "interfaces", "ir", "layout",
    "passes", "properties", "rewriting", "singletons", "symbols", "traits", "triton", "types",
}  # fmt: skip
HEADER = Path("mlir", "Dialect", "LLVMIR", "LLVMOps.h.inc")
GUARD = re.compile(r'__attribute__\(\(unavailable\("triton-ext:[^"]*"\)\)\) ')


def failed_groups(result: SelfTestResult) -> set[str]:
    assert result.problem is None
    assert result.crashed is None
    return {failure.group for failure in result.failures}


def failed_ops(result: SelfTestResult) -> set[str]:
    return {".".join(failure.name.split(".")[:2]) for failure in result.failures}


def with_header(tmp_path: Path, sdk: Sdk, text: str) -> tuple[Path, ...]:
    """Returns include directories in which LLVMOps.h.inc has this text."""
    header = tmp_path / "changed" / HEADER
    header.parent.mkdir(parents=True)
    header.write_text(text)
    return (tmp_path / "changed", *sdk.include_dirs)


@pytest.mark.slow
def test_green_as_built(library: Path) -> None:
    result = run_selftest(library)
    assert result.problem is None
    assert result.crashed is None
    assert result.failures == ()
    assert result.ok
    assert set(result.checks) == GROUPS
    assert sum(result.checks.values()) > 2500


@pytest.mark.slow
def test_catches_gcc(build: BuildSelfTest) -> None:
    compiler = shutil.which("g++") or pytest.skip("no g++ is installed")
    result = run_selftest(build("OpTable", "OpsCore", compiler=compiler))
    assert failed_groups(result) == {"traits"}
    assert len(result.failures) == result.checks["traits"]
    assert any("ConstantLike" in failure.detail for failure in result.failures if failure.name == "arith.constant")


@pytest.mark.slow
def test_catches_abi_flag_off(build: BuildSelfTest, installed_sdk: Sdk) -> None:
    without_overlay = installed_sdk.include_dirs[1:]  # these headers' own flag is 0
    flag = without_overlay[0] / "llvm" / "Config" / "abi-breaking.h"
    if "LLVM_ENABLE_ABI_BREAKING_CHECKS 0" not in flag.read_text():
        pytest.skip("the headers of this SDK have the flag on")
    result = run_selftest(build("OpTable", include_dirs=without_overlay))
    assert result.problem == "it does not load: it was built with LLVM_ENABLE_ABI_BREAKING_CHECKS 0, libtriton has 1"


@pytest.mark.slow
def test_catches_ndebug(build: BuildSelfTest) -> None:
    """libtriton has assertions, and so statistics that count, which are a class of another size."""
    result = run_selftest(build("Layout", flags=("-DNDEBUG",)))
    assert failed_groups(result) == {"layout"}
    assert [failure.name for failure in result.failures] == ["Pass::Statistic"]


@pytest.mark.slow
@pytest.mark.parametrize("singletons", [True, False])
def test_catches_copies_of_resources(build: BuildSelfTest, singletons: bool) -> None:
    result = run_selftest(build("Singletons", singletons=singletons))
    assert failed_groups(result) == (set() if singletons else {"singletons"})
    assert result.checks["singletons"] > 5
    # Everything except that the operations could be parsed.
    assert len(result.failures) == (0 if singletons else result.checks["singletons"] - 1)


@pytest.mark.slow
def test_catches_two_properties_swapped(build: BuildSelfTest, installed_sdk: Sdk, tmp_path: Path) -> None:
    """The size is right but the order is wrong, which only the accessors show."""
    text = (installed_sdk.include_dirs[1] / HEADER).read_text()
    start = text.index("class LoadOpGenericAdaptorBase")
    one, other = "access_groupsTy access_groups;", "alias_scopesTy alias_scopes;"
    middle = text.index(one, start)
    end = text.index(other, middle) + len(other)
    swapped = text[middle:end].replace(one, "@").replace(other, one).replace("@", other)
    # Each declaration must find its type declared before it.
    types = "using access_groupsTy = ::mlir::ArrayAttr; using alias_scopesTy = ::mlir::ArrayAttr;"
    swapped = types + re.sub(r"using (access_groups|alias_scopes)Ty = [^;]*;", "", swapped)
    before = text[:middle].removesuffix(re.search(r"using access_groupsTy = [^;]*;\s*$", text[:middle])[0])  # type: ignore[index]
    result = run_selftest(
        build("OpTable", "OpsLLVM", include_dirs=with_header(tmp_path, installed_sdk, before + swapped + text[end:]))
    )
    assert failed_groups(result) == {"properties"}
    assert {failure.name for failure in result.failures} == {"llvm.load.AccessGroups", "llvm.load.AliasScopes"}


@pytest.fixture(scope="session")
def llvm23(tmp_path_factory: pytest.TempPathFactory) -> Sdk:
    """Returns the SDK of LLVM 23, which is not the LLVM of libtriton."""
    cache = tmp_path_factory.mktemp("llvm23")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        command = [sys.executable, "-m", "triton_ext", "sdk", "install", "--source", "debian-23"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        pytest.skip(f"LLVM 23 cannot be installed: {result.stderr.strip().splitlines()[-1]}")
    sdk = Sdk.load(next(path.parent for path in cache.rglob("sdk.json")))
    assert sdk is not None
    return sdk


@pytest.mark.slow
def test_catches_headers_of_another_llvm(build: BuildSelfTest, llvm23: Sdk, tmp_path: Path) -> None:
    text = (llvm23.include_dirs[1] / HEADER).read_text()
    assert GUARD.search(text)
    unguarded = GUARD.sub("", re.sub(rf".*{GUARD.pattern}Properties &getProperties\(\);\n", "", text))
    result = run_selftest(build("OpTable", "OpsLLVM", include_dirs=with_header(tmp_path, llvm23, unguarded)))
    assert failed_groups(result) == {"properties"}
    assert failed_ops(result) == {op_name(op) for op in llvm23.guarded_ops if op.startswith("LLVM::")}


@pytest.mark.slow
def test_guarded_ops_are_no_failure(build: BuildSelfTest, llvm23: Sdk) -> None:
    result = run_selftest(build("OpTable", "OpsLLVM", include_dirs=llvm23.include_dirs))
    assert result.ok, result
    assert {check.name for check in result.guarded} == {
        op_name(op) for op in llvm23.guarded_ops if op.startswith("LLVM::")
    }


def op_name(op: str) -> str:
    """Returns IR with an ``LLVM::InvokeOp``."""
    return {"LLVM::CallOp": "llvm.call", "LLVM::InvokeOp": "llvm.invoke", "LLVM::LLVMFuncOp": "llvm.func"}[op]


def test_missing_library(tmp_path: Path) -> None:
    result = run_selftest(tmp_path / "none.so")
    assert result.problem == f"{tmp_path / 'none.so'} does not exist"
    assert not result.ok


@pytest.mark.slow
def test_no_library(tmp_path: Path) -> None:
    path = tmp_path / "text.so"
    path.write_text("not a library")
    result = run_selftest(path)
    assert result.problem is not None
    assert result.problem.startswith("it does not load: ")


@pytest.mark.slow
def test_a_crash_has_a_name(tmp_path: Path, clang: str) -> None:
    source = tmp_path / "crash.cpp"
    source.write_text(
        'extern "C" int tritonExtAbiSelfTest(void (*report)(const char *, const char *, int, const char *, void *),\n'
        "                                    void *user) {\n"
        '  report("g", "first", -1, "", user); report("g", "first", 1, "", user);\n'
        '  report("g", "second", -1, "", user); __builtin_trap();\n}\n'
    )
    path = tmp_path / "crash.so"
    subprocess.run([clang, "-shared", "-fPIC", str(source), "-o", str(path)], check=True)
    result = run_selftest(path)
    assert result.checks == {"g": 1}
    assert result.crashed == "SIGILL in g: second"


def test_last_words_of_an_assertion() -> None:
    events = b'{"group": "g", "check": "c", "ok": -1, "detail": ""}\n'
    result = selftest._result(Path("x"), Ended(events, -signal.SIGABRT, "Assertion failed"))
    assert result.crashed == "SIGABRT in g: c: Assertion failed"
    assert str(Check("g", "c", "d")) == "g: c (d)"
