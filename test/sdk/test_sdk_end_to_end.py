# SPDX-License-Identifier: Apache-2.0
"""The real SDKs: the headers compile, mlir-tblgen runs, and the guards give errors.

The default SDK is the user's own if it is installed. The fallback is downloaded into a temporary cache.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support import kept
from triton_ext import sdk as sdk_module
from triton_ext.loading.host import find_triton
from triton_ext.sdk import Sdk
from triton_ext.sdk.headers import guard_op

CLANG = next((path for name in ("clang++-19", "clang++") if (path := shutil.which(name))), None)
needs_clang = pytest.mark.skipif(CLANG is None, reason="clang is not installed")

PLAIN = """
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
static_assert(LLVM_ENABLE_ABI_BREAKING_CHECKS == FLAG);
mlir::Attribute name(mlir::LLVM::LLVMFuncOp f) { return f.getSymNameAttr(); }
"""

# Headers that refer to ops that may be guarded.
HEADERS = """
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Target/LLVMIR/ModuleTranslation.h"
"""

# A line that ends in "// OP" must be an error if and only if OP is guarded; all others must compile.
GUARDED = """
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
using namespace mlir;
bool any(Operation *op) { return isa<LLVM::CallOp, LLVM::InvokeOp, LLVM::LLVMFuncOp>(op); }
auto call(OpBuilder &b, Location l, LLVM::LLVMFuncOp f, ValueRange v) { return LLVM::CallOp::create(b, l, f, v); }
auto func(OpBuilder &b, Location l, Type t) { return LLVM::LLVMFuncOp::create(b, l, "f", t); }
auto operands(Operation *op) { return dyn_cast<LLVM::InvokeOp>(op).getCalleeOperands(); }
auto compiled(LLVM::CallOp op) { return op.getCallee(); }
auto symbol(LLVM::LLVMFuncOp op) { return op.getName(); }
auto generic(LLVM::CallOp op) { return op->getAttr("callee"); }
struct Erase : OpRewritePattern<LLVM::CallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LLVM::CallOp op, PatternRewriter &r) const override { return r.eraseOp(op), success(); }
};
void add(RewritePatternSet &s) { s.add<Erase>(s.getContext()); }
auto n01(LLVM::CallOp op) { return op.getCalleeAttr(); } // CallOp
auto n02(LLVM::CallOp op) { return op.getProperties().callee; } // CallOp
auto n03(LLVM::CallOp op) { return op.getCalleeAttrName(); } // CallOp
auto n04(LLVM::CallOp op) { LLVM::CallOp::Adaptor a(op); } // CallOp
auto n05(LLVM::CallOp op, ValueRange v) { LLVM::CallOp::Adaptor a(v, op); } // CallOp
auto n06(OperationState &s) { s.getOrAddProperties<LLVM::CallOp::Properties>(); } // CallOp
auto n07(LLVM::CallOp op) { return op.getOpBundleOperands(); } // CallOp
auto n11(LLVM::InvokeOp op) { return op.getCalleeAttr(); } // InvokeOp
auto n12(LLVM::InvokeOp op) { op.setCalleeAttr(nullptr); } // InvokeOp
auto n13(LLVM::InvokeOp op) { return op->getPropertiesStorage().as<LLVM::InvokeOp::Properties *>(); } // InvokeOp
struct Convert : OpConversionPattern<LLVM::InvokeOp> { using OpConversionPattern::OpConversionPattern; };
auto n14(RewritePatternSet &s, TypeConverter &t) { s.add<Convert>(t, s.getContext()); } // InvokeOp
auto n21(LLVM::LLVMFuncOp op) { op.setSymNameAttr(nullptr); } // LLVMFuncOp
auto n22(LLVM::LLVMFuncOp op) { return op.isNoInline(); } // LLVMFuncOp
auto n23(LLVM::LLVMFuncOp op) { return op.removeArgAttrsAttr(); } // LLVMFuncOp
"""


def compile_(sdk: Sdk, source: str, *, first: Path | None = None, define: str = "FLAG=1") -> str:
    """Returns clang's output for `source`; headers in `first`, if given, shadow those of the SDK."""
    assert CLANG is not None
    includes = [f"-I{sdk.include_dirs[0]}", *([f"-I{first}"] if first else []), "-isystem", str(sdk.include_dirs[1])]
    command = [
        CLANG,
        "-std=c++20",
        "-fno-rtti",
        "-fno-exceptions",
        "-fvisibility=hidden",
        "-fsyntax-only",
        f"-D{define}",
    ]
    command += ["-ferror-limit=0", *includes, "-isystem", str(find_triton().include_dir), "-x", "c++", "-"]
    directories = [
        Path(directory) for directory in (*sdk.include_dirs, *filter(None, [first]), find_triton().include_dir)
    ]
    version = subprocess.check_output([CLANG, "--version"], text=True)

    def run() -> bytes:
        return subprocess.run(command, input=source.encode(), capture_output=True, check=False).stderr

    # Clang reads 1,000 headers, which takes 10 s or more.
    options = [word for word in command if word.startswith("-") and not word.startswith("-I")]
    return kept.output(run, version, *options, source, *map(headers_in, directories)).decode()


@functools.cache
def headers_in(directory: Path) -> str:
    """Returns a digest of all files in `directory`."""
    return kept.digest(sorted(path for path in directory.rglob("*") if path.is_file()), directory)


def check_guards(sdk: Sdk, guarded: set[str], *, headers: str = "", first: Path | None = None) -> None:
    """Compiles `GUARDED` behind `headers`, and compares the lines with errors with the expected ones."""
    output = compile_(sdk, headers + GUARDED, first=first)
    lines = (headers + GUARDED).splitlines()
    expected = {n for n, line in enumerate(lines, 1) if line.rpartition("// ")[2] in guarded}
    direct = {
        int(n) for n in re.findall(r"^<stdin>:(\d+):\d+: error: .* is unavailable: triton-ext: LLVM::", output, re.M)
    }
    through = {int(n) for n in re.findall(r"^<stdin>:(\d+):\d+: note: in instantiation", output, re.M)}
    assert direct | through == expected, output
    errors = [text for text in re.split(r"^(?=\S+:\d+:\d+: error: )", output, flags=re.M) if "error: " in text]
    # An error in a header belongs to a line above if clang instantiates a template for that line.
    assert [text for text in errors if not re.search(r"^<stdin>:\d+:\d+: ", text, re.M)] == []
    assert [text for text in errors if "triton-ext: LLVM::" not in text.partition("\n")[0]] == []
    assert "warning:" not in output
    if guarded:
        assert "use op->getAttr(...) or op->getInherentAttr(...)" in output


@pytest.fixture(scope="module")
def default_sdk(tmp_path_factory: pytest.TempPathFactory) -> Sdk:
    """Returns the user's SDK, or installs one into a temporary cache."""
    if found := sdk_module.find():
        return found
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        return sdk_module.install()


@pytest.fixture(scope="module")
def fallback_sdk(tmp_path_factory: pytest.TempPathFactory) -> Sdk:
    """Returns an SDK from Debian's LLVM 23.1."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        return sdk_module.install(source="debian-23")


def test_size(default_sdk: Sdk) -> None:
    kilobytes = int(subprocess.check_output(["du", "-sk", default_sdk.path]).split()[0])
    assert kilobytes < 200_000
    assert abs(kilobytes * 1024 - default_sdk.size) < 1_000_000


def test_tblgen_runs(default_sdk: Sdk, tmp_path: Path) -> None:
    version = subprocess.check_output([default_sdk.mlir_tblgen, "--version"], text=True)
    assert f"LLVM version {default_sdk.llvm_version}" in version
    (tmp_path / "P.td").write_text('include "mlir/Pass/PassBase.td"\ndef P : Pass<"p"> { let summary = "s"; }\n')
    command = [
        default_sdk.mlir_tblgen,
        "-gen-pass-decls",
        "-name",
        "P",
        "-I",
        default_sdk.include_dirs[1],
        tmp_path / "P.td",
    ]
    assert 'StringRef getArgument() const override { return "p"' in subprocess.check_output(command, text=True)


@pytest.mark.slow
@needs_clang
def test_headers_compile(default_sdk: Sdk) -> None:
    """The last one includes dialects that the SDK lacks."""
    flag = f"FLAG={int(find_triton().abi_breaking_checks)}"
    assert compile_(default_sdk, PLAIN + HEADERS + '#include "mlir/Conversion/Passes.h"\n', define=flag) == ""


@needs_clang
@pytest.mark.slow
def test_fallback_guards_what_differs(fallback_sdk: Sdk) -> None:
    assert fallback_sdk.llvm_version.startswith("23.1")
    assert "LLVM::InvokeOp" in fallback_sdk.guarded_ops
    check_guards(fallback_sdk, {op.removeprefix("LLVM::") for op in fallback_sdk.guarded_ops})
    assert "LLVM version 23.1" in subprocess.check_output([fallback_sdk.mlir_tblgen, "--version"], text=True)


@needs_clang
@pytest.mark.slow
def test_all_three_ops_can_be_guarded(fallback_sdk: Sdk, tmp_path: Path) -> None:
    """LLVM 23.1 point releases differ in how many of the three lack the property."""
    relative = Path("mlir", "Dialect", "LLVMIR", "LLVMOps.h.inc")
    text = (fallback_sdk.include_dirs[1] / relative).read_text()
    for op in ("CallOp", "InvokeOp", "LLVMFuncOp"):
        if f"LLVM::{op}" not in fallback_sdk.guarded_ops:
            text = guard_op(text, op, f"LLVM::{op} is guarded")
    (tmp_path / relative).parent.mkdir(parents=True)
    (tmp_path / relative).write_text(text)
    check_guards(fallback_sdk, {"CallOp", "InvokeOp", "LLVMFuncOp"}, headers=HEADERS, first=tmp_path)
