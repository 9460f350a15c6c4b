# SPDX-License-Identifier: Apache-2.0
"""A small world for the SDK's tests: an HTTP server, tiny packages and archives, a manifest that names them.

The real Triton is the host; nothing outside a test's own temporary directory is written.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from support import ROOT
from triton_ext import cli
from triton_ext.loading.host import find_triton

TOOL = "#!/bin/sh\necho fake mlir-tblgen\n"
OPS = ("CallOp", "InvokeOp", "LLVMFuncOp")

DRIVER = """
import pathlib, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from triton_ext.sdk import source_file
source_file.infra_dir = lambda: pathlib.Path({infra!r})
from triton_ext.cli import main
main()
"""


def llvm_files(version: str = "24.0.0", commit: str | None = None, without: str = "") -> dict[str, str]:
    """Returns the files of an LLVM install that an SDK reads, as small as possible."""
    properties = "    using default_func_attrsTy = int;\n    default_func_attrsTy default_func_attrs;\n"
    ops = "".join(
        f"class {op}GenericAdaptorBase {{\npublic:\n"
        f"  struct Properties {{\n{properties if op != without else ''}  }};\n"
        f"  {op}GenericAdaptorBase({op} op);\n}};\n"
        f"class {op}GenericAdaptor : public {op}GenericAdaptorBase {{\n}};\n"
        f"class {op}Adaptor {{\npublic:\n  {op}Adaptor({op} op);\n}};\n"
        f"class {op} : public Op {{\npublic:\n  using Properties = FoldAdaptor::Properties;\n"
        f"  int getCalleeAttr() {{\n    return getProperties().callee;\n  }}\n  int getCallee();\n}};\n"
        for op in OPS
    )
    return {
        "include/mlir/IR/BuiltinOps.h": "// builtin\n",
        "include/mlir/Dialect/LLVMIR/LLVMOps.h.inc": ops,
        "include/mlir/Dialect/SPIRV/IR/SPIRVOps.cpp.inc": "// not wanted\n",
        "include/mlir/Dialect/SPIRV/IR/SPIRVEnums.h": "// wanted\n",
        "include/llvm/Testing/ADT/StringMap.h": "// not wanted\n",
        "include/llvm/Config/llvm-config.h": f'#define LLVM_VERSION_STRING "{version}"\n',
        "include/llvm/Config/abi-breaking.h": "#define LLVM_ENABLE_ABI_BREAKING_CHECKS 0\n",
        "include/llvm/Support/VCSRevision.h": f'#define LLVM_REVISION "{commit}"\n'
        if commit
        else "#undef LLVM_REVISION\n",
        "include/llvm-c/Types.h": "// c\n",
        "bin/mlir-tblgen": TOOL,
        "lib/libMLIRIR.a": "not wanted\n",
    }


def write_tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if "/bin/" in f"/{name}" else 0o644)
    return root


def tar_bytes(files: dict[str, str], mode: str, prefix: str = "", links: dict[str, str] | None = None) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{mode}") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(prefix + name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(prefix + name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            tar.addfile(info)
    return buffer.getvalue()


def deb_bytes(files: dict[str, str], links: dict[str, str] | None = None, padding: int = 0) -> bytes:
    """Returns a Debian package; `padding` incompressible bytes make its download slow."""
    if padding:
        files = files | {"usr/share/padding": os.urandom(padding // 2).hex()}
    parts = {
        "debian-binary": b"2.0\n",
        "control.tar.xz": tar_bytes({"control": "Package: p\n"}, "xz"),
        "data.tar.xz": tar_bytes(files, "xz", "./", links),
    }
    data = b"!<arch>\n"
    for name, content in parts.items():
        data += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode() + content
        data += b"\n" * (len(content) % 2)
    return data


def llvm_debs(version: str = "24.0.0", tool: str = TOOL, padding: int = 0, without: str = "") -> dict[str, bytes]:
    """Returns the three packages of an LLVM, in Debian's layout."""
    files = llvm_files(version, without=without) | {"bin/mlir-tblgen": tool}
    mlir = {f"usr/lib/llvm-24/{name}": text for name, text in files.items() if name.startswith("include/mlir")}
    llvm = {
        f"usr/include/llvm{'-c' if '/llvm-c/' in name else ''}-24/{name.removeprefix('include/')}": text
        for name, text in files.items()
        if name.startswith("include/llvm")
    }
    return {
        "libmlir-dev": deb_bytes(mlir),
        "llvm-dev": deb_bytes(llvm, {"usr/lib/llvm-24/include/llvm": "../../../include/llvm-24/llvm"}, padding),
        "mlir-tools": deb_bytes({"usr/lib/llvm-24/bin/mlir-tblgen": tool}),
    }


def runtime_debs(loader: str = "#!/bin/sh\nexit 0\n") -> dict[str, bytes]:
    """Returns a package with a loader that is a script, libraries, and files that the SDK does not need."""
    files = {
        "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2": loader,
        "usr/lib/x86_64-linux-gnu/libz.so.1.3.2": "libz",
        "usr/lib/x86_64-linux-gnu/libresolv.so.2": "unwanted",
        "usr/share/doc/libz.so.1/copyright": "unwanted",
    }
    return {"libc6": deb_bytes(files, {"usr/lib/x86_64-linux-gnu/libz.so.1": "libz.so.1.3.2"})}


def closed_port() -> str:
    """Returns an address of this machine on which no server listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{sock.getsockname()[1]}"


@dataclass
class Server:
    """An HTTP server on this machine that records its requests."""

    root: Path
    url: str = ""
    log: list[tuple[str, str | None]] = field(default_factory=list)
    delay: float = 0.0  # seconds per 16 KiB
    drop_after: int = 0  # bytes after which the next answer breaks off
    ranges: bool = True

    def add(self, path: str, data: bytes) -> str:
        """Serves `data` at `path`; returns its hash."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return hashlib.sha256(data).hexdigest()

    def asked(self, name: str) -> list[str | None]:
        """Returns the Range headers of the requests for `name`."""
        return [range_ for path, range_ in self.log if path.endswith(name)]


@contextlib.contextmanager
def serving(root: Path) -> Iterator[Server]:
    """Runs a server for the files below `root`."""
    state = Server(root)
    state.root.mkdir()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            range_ = self.headers.get("Range")
            state.log.append((self.path, range_))
            file = state.root / self.path.lstrip("/")
            if not file.is_file():
                return self.send_error(404)
            data = file.read_bytes()
            start = int(re.findall(r"\d+", range_)[0]) if range_ and state.ranges else 0
            if start and start >= len(data):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(data)}")
                self.send_header("Content-Length", "0")
                return self.end_headers()
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
            self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            rest = data[start:]
            if 0 < state.drop_after < len(rest):
                rest, state.drop_after = rest[: state.drop_after], 0
            for at in range(0, len(rest), 1 << 14):
                self.wfile.write(rest[at : at + (1 << 14)])
                time.sleep(state.delay)
            self.close_connection = True
            return None

        def log_message(self, *args: object) -> None:
            pass

    class QuietServer(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            pass

    http = QuietServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    state.url = f"http://127.0.0.1:{http.server_port}"
    yield state
    http.shutdown()
    http.server_close()
    thread.join()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "www") as state:
        yield state


@dataclass
class World:
    """A cache, a manifest and the command line that uses them."""

    tmp: Path
    server: Server
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str] | None

    @property
    def cache(self) -> Path:
        return self.tmp / "cache" / "triton-ext"

    @property
    def infra(self) -> Path:
        return self.tmp / "infra"

    def target(self, source: str) -> Path:
        return self.cache / "sdk" / f"{find_triton().version}-{find_triton().llvm_commit[:8]}-{source}"

    def leftovers(self) -> list[str]:
        """Returns the names in the SDK directory, except locks."""
        root = self.cache / "sdk"
        return sorted(path.name for path in root.iterdir() if path.suffix != ".lock") if root.is_dir() else []

    def manifest(
        self,
        debs: dict[str, bytes] | None = None,
        runtime: dict[str, bytes] | None = None,
        *,
        gone: str = "",
        wrong: str = "",
        suite: str = "",
    ) -> None:
        """Writes a manifest with the ids of the real sources and the packages `debs`, and serves these.

        The package `gone` is listed but not served; the listed hash of `wrong` is not that of the served file.
        """

        def tables(kind: str, packages: dict[str, bytes]) -> str:
            text = ""
            for name, data in packages.items():
                path = f"pool/{name}_1.deb"
                sha256 = self.server.add(path, data)
                if name == gone:
                    (self.server.root / path).unlink()
                text += f'[[{kind}.package]]\nname = "{name}"\npath = "{path}"\n'
                text += f'sha256 = "{"0" * 64 if name == wrong else sha256}"\nsize = {len(data)}\n'
            return text

        debian = tables("source", debs or {})
        suites = f'suite = "{suite}"\nversion_prefix = "24.0"\n' if suite else ""
        common = f'kind = "debian"\narch = "x86_64"\nllvm_commits = ["{find_triton().llvm_commit}"]\ndownload_mb = 1\n'
        text = (ROOT / "infra" / "sdk" / "sources.toml").read_text()
        keep, guard = text[text.index("[keep]") : text.index("[[source]]")], text[text.index("[runtime]") :]
        archive = text[text.index('[[source]]\nid = "triton-llvm"') : text.index('[[source]]\nid = "debian-24')]
        (self.infra / "sdk" / "sources.toml").write_text(
            f'{keep}[[source]]\nid = "user"\nkind = "user"\n\n{archive}'
            f'[[source]]\nid = "debian-24-snapshot"\nllvm_version = "24.0"\nheaders_commit = "2faa90a208a1"\n'
            f"{common}{suites}{debian}"
            f'[[source]]\nid = "debian-23"\nllvm_version = "24.0"\n{common}{suites}{debian}'
            f"{guard[: guard.index('[[runtime.package]]')]}{tables('runtime', runtime or runtime_debs())}"
        )

    def run(self, *args: str) -> tuple[object, str, str]:
        """Runs ``triton-ext sdk`` in this process; returns exit code, stdout and stderr."""
        self.monkeypatch.setattr(sys, "argv", ["triton-ext", "sdk", *args])
        find_triton.cache_clear()
        try:
            cli.main()
            code: object = 0
        except SystemExit as exit_:
            code = exit_.code
        finally:
            find_triton.cache_clear()
        assert self.capsys is not None
        out, err = self.capsys.readouterr()
        return code, out, err

    def fails(self, *args: str) -> str:
        """Runs the command, which must fail with one line and leave nothing half-done; returns the line."""
        code, _, err = self.run(*args)
        assert code == 1, err
        lines = [line for line in err.splitlines() if line.startswith("triton-ext: error: ")]
        assert lines == err.splitlines()[-1:], err
        assert "(fix: " in lines[0]
        assert self.leftovers() == []
        return lines[0]

    def start(self, *args: str) -> subprocess.Popen[str]:
        """Starts the command in a separate process."""
        return subprocess.Popen(
            [sys.executable, "-c", DRIVER.format(infra=str(self.infra)), "sdk", *args],
            env=os.environ | {"PYTHONPATH": str(ROOT / "python")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def world(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> World:
    return make_world(tmp_path, server, monkeypatch, capsys)


def make_world(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str] | None
) -> World:
    """Makes a world in `tmp_path`; without `capsys`, its command line runs only in separate processes."""
    infra = tmp_path / "infra"
    (infra / "sdk").mkdir(parents=True)
    shutil.copytree(ROOT / "infra" / "sdk" / "llvm-c", infra / "sdk" / "llvm-c")
    (infra / "cmake").mkdir()
    shutil.copy(ROOT / "infra" / "cmake" / "manifest.py", infra / "cmake")
    monkeypatch.setattr("triton_ext.sdk.source_file.infra_dir", lambda: infra)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TRITON_EXT_DEBIAN_MIRROR", server.url)
    monkeypatch.setenv("TRITON_EXT_LLVM_MIRROR", server.url)
    monkeypatch.delenv("TRITON_EXT_LLVM_DIR", raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    world = World(tmp_path, server, monkeypatch, capsys)
    world.manifest(llvm_debs())
    return world
