# SPDX-License-Identifier: Apache-2.0
"""Attacks on loading and reading: damaged libraries and manifests, pipelines of any text, IR that names files."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from support.attacks.attack import Attack, Outcome
from triton_ext.compilation.records import Compilation
from triton_ext.compilation.sources import read_sources
from triton_ext.errors import TritonExtError
from triton_ext.loading import library_bytes
from triton_ext.loading.discovery import discovered_once
from triton_ext.loading.elf import parse_library
from triton_ext.loading.manifest import Manifest
from triton_ext.pipeline.records import StageRecord
from triton_ext.pipeline.text_form import parse, read
from triton_ext.support import resources
from triton_ext.tracing.page import page

#: Seconds that one attempt may take, on a busy machine.
_SECONDS = 30


@contextmanager
def no_hang() -> Iterator[None]:
    """Raises TimeoutError in code that does not end by itself."""

    def late(*_: object) -> None:
        raise TimeoutError(f"did not end within {_SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def attempts(tries: int, attempt: Callable[[], object]) -> Outcome:
    """Makes `tries` attempts, which may raise our errors and no others."""
    through, note = 0, ""
    for _ in range(tries):
        try:
            with no_hang():
                attempt()
        except TritonExtError as error:
            str(error)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            through += 1
            note = note or f"{type(error).__name__}: {str(error)[:200]}"
    return Outcome(tries, through, note)


def elf(rng: random.Random, scale: int) -> Outcome:
    """Libraries with wrong bytes: a few anywhere, or whole words in the headers, the tables and their targets."""
    good = (resources.library_dir() / "libtriton_ext_rename.so").read_bytes()
    sections = int.from_bytes(good[40:48], "little")
    words = (0, 1, 0xFF, 2**16 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1, len(good), len(good) - 1)

    def attempt() -> None:
        data = bytearray(good)
        for _ in range(rng.choice((1, 1, 2, 5, 20))):
            place = rng.choice((rng.randrange(64), rng.randrange(sections, len(data)), rng.randrange(len(data))))
            if rng.random() < 0.5:
                data[place] = rng.randrange(256)
            else:
                size = rng.choice((2, 4, 8))
                place = max(0, min(place // size * size, len(data) - size))
                data[place : place + size] = (rng.choice(words) % 256**size).to_bytes(size, "little")
        if rng.random() < 0.1:
            del data[rng.randrange(len(data)) :]
        parse_library(library_bytes.LibraryBytes(Path("mutant.so"), bytes(data), ""))

    return attempts(2500 * scale, attempt)


def manifests(rng: random.Random, scale: int) -> Outcome:
    """Changes some characters of a manifest's text, or one of its JSON values."""
    good = str(parse_library(library_bytes.read_bytes(resources.library_dir() / "libtriton_ext_loop_split.so")).note)
    values = (
        None,
        True,
        -1,
        2**70,
        1e308,
        float("nan"),
        "",
        "\0",
        "\ud800",
        "a-b",
        "class",
        [],
        {},
        [[]],
        ["a"],
        {"a": 1},
    )

    def replaced(value: object) -> object:
        if isinstance(value, dict) and value and rng.random() < 0.85:
            key = rng.choice(list(value))
            return {**value, key: replaced(value[key])} if rng.random() < 0.9 else {**value, "more": 1}
        if isinstance(value, list) and value and rng.random() < 0.85:
            at = rng.randrange(len(value))
            return [*value[:at], replaced(value[at]), *value[at + rng.randrange(2) :]]
        return rng.choice(values)

    def attempt() -> None:
        if rng.random() < 0.5:
            text = json.dumps(replaced(json.loads(good)))
        else:
            characters = list(good)
            for _ in range(rng.choice((1, 2, 8))):
                at = rng.randrange(len(characters))
                characters[at] = rng.choice(('"', "{", "}", "[", "]", ",", "\\", "9" * rng.choice((1, 5000)), "\0", ""))
            text = "".join(characters)
        try:
            manifest = Manifest.parse(text)
        except ValueError:  # `verify` turns this into an error of ours
            return
        for option in manifest.options:
            assert option.python_name.isidentifier()
            _ = option.python_default, option.python_type, option.range

    return attempts(75_000 * scale, attempt)


_WORDS = (
    *("ttir:", "ttgir:", "*:", "nowhere:", "after", "before", "skip", "set", "stage", "replace", "at_end", "at_start"),
    *("(", ")", ",", ";", "{", "}", "=", "#", '"', "'", "\\", "\0", "\n", "\ud800", "²", "*", "[", "]"),
    *("loop_unroll", "common.cse", "#last", "loop_split", "{max-splits=", "on_missing=skip", "combine#2", "plugin.x"),
    *("1", "-1", "9" * 5000, "1e999", "nan", "true", "#" + "9" * 5000, "num_stages=", "@/dev/null", "--- x"),
    *("os:getcwd", "sys:exit", "nowhere_at_all:x", "a:b"),
)
_VERBS = ("after", "before", "skip", "set", "replace", "at_end", "at_start", "stage")
_ANCHORS = ("loop_unroll", "common.cse", "ttir.combine#2", "*", "x#" + "9" * 5000, "a#last", "²", "\0")
_ITEMS = ("common.cse", "loop_split", "loop_split{max-splits=", "rename{old=", "os:getcwd", "plugin.x", "num_stages=")


def pipeline_texts(rng: random.Random, scale: int) -> Outcome:
    """Parses pipelines of meaningful words in any order, and of nearly right texts: only our errors, and `sys.path` as
    it was. Looking for libraries, whose text does not matter, would take most of the time."""
    path = list(sys.path)

    def edit() -> str:
        item = rng.choice(_ITEMS)
        value = rng.choice(_WORDS) if item.endswith("=") else ""
        braces = "}" if "{" in item else ""
        stage = rng.choice(("ttir: ", "ttgir: ", "", "*: "))
        return f"{stage}{rng.choice(_VERBS)}({rng.choice(_ANCHORS)}, {item}{value}{braces})"

    def attempt() -> None:
        if rng.random() < 0.5:
            text = "; ".join(edit() for _ in range(rng.randrange(1, 4)))
        else:
            text = "".join(rng.choice(_WORDS) + rng.choice(("", " ")) for _ in range(rng.randrange(1, 14)))
        if rng.random() < 0.05:
            text = "@" + text
        try:
            parse(read(text))
        finally:
            assert sys.path == path, "the search path is another"

    with discovered_once():
        return attempts(2150 * scale, attempt)


def exits(rng: random.Random, scale: int) -> Outcome:
    """Modules that end the process, fail or hide while a pipeline's text imports them from the working directory."""
    codes = (
        "raise SystemExit(0)", "import sys; sys.exit('bye')", "raise MemoryError", "1 / 0", "import nowhere_at_all",
        "raise RecursionError", "import sys; sys.path.clear()", "import sys; sys.path.append('/planted')", "f = 1",
        "def __getattr__(name): raise SystemExit", "raise UnicodeDecodeError('utf-8', b'', 0, 1, 'x')", "\0", "(" * 300,
    )  # fmt: skip
    names = iter(range(10**9))
    before, path = os.getcwd(), list(sys.path)
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)

        def attempt() -> None:
            name = f"attacked_{os.getpid()}_{next(names)}"
            Path(f"{name}.py").write_text(rng.choice(codes))
            try:
                parse(f"ttir: stage({name}:f)")
            finally:
                kept = [place for place in sys.path if place != "/planted"]
                sys.path[:] = path
                assert not {"", directory, os.path.realpath(directory)} & (set(kept) - set(path)), "it is left there"

        try:
            return attempts(20 * scale, attempt)
        finally:
            os.chdir(before)


HOSTILE = (
    "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "{{data}}", "${alert(1)}", "<!--", "-->",
    "]]>",
    "\u2028\u2029", "&lt;b&gt;", "'\"><svg onload=alert(1)>", "javascript:alert(1)", "\0\b\x1b[2J", "\ud800",
    "<" * 1000,
)  # fmt: skip


def trace_pages(rng: random.Random, scale: int) -> Outcome:
    """Names, IR and sources contain HTML: the page contains them only as compressed data."""
    tags = page(Compilation("k", "cuda:90", "3.9.0", "", 0.0, ())).count("<")

    def attempt() -> None:
        text = rng.choice(HOSTILE)
        stage = StageRecord(text, 0.1, (), f'module {{\n  x.y {{a = "{text}"}}\n}}', text)
        what = Compilation("k", "cuda:90", text, text, 0.5, (stage,), "k.py", (("k.py", text),), text)
        assert page(what).count("<") == tags, "the page has other tags"

    return attempts(len(HOSTILE) * scale, attempt)


def named_files(rng: random.Random, scale: int) -> Outcome:
    """IR in a file names files of others, pipes, devices and links, and, with a directory of sources, files outside."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "secret.py").write_text("secret")
        (root / "sources").mkdir()
        (root / "sources" / "k.py").write_text("open")
        os.mkfifo(root / "pipe.py")
        os.mkfifo(root / "sources" / "pipe.py")
        (root / "sources" / "out.py").symlink_to(root / "secret.py")
        (root / "device.py").symlink_to("/dev/zero")
        (root / "sources" / "device.py").symlink_to("/dev/zero")
        files = (
            "secret.py", "pipe.py", "sources/../secret.py", "sources/out.py", "sources/pipe.py", "device.py",
            "sources/device.py", "\\00.py", "nothing.py", "sources/k.py",
            "sources\\2F..\\2Fsecret.py", "x" * 5000 + ".py",
        )  # fmt: skip

        def attempt() -> None:
            named = [f"{root}/{rng.choice(files)}" for _ in range(4)]
            text = "\n".join(f'x.y loc("{file}":1:1)' for file in named)
            stage = StageRecord("ttir", 0.0, (), text)
            ir = types.SimpleNamespace(path="module.ttir")
            for source in (ir, "module.ttir"):
                assert read_sources(source, (stage,), None) == (), "a file with IR chose what is shown"
                shown = dict(read_sources(source, (stage,), root / "sources"))
                assert set(shown.values()) <= {"open"}, "what lies outside is shown"

        return attempts(50 * scale, attempt)


_IR = """module {
  tt.func public @k(%arg0: !tt.ptr<i32> loc("k.py":1:1)) attributes {noinline = false} {
    %pid = tt.get_program_id x : i32 loc(#loc1)
    %p = tt.splat %arg0 : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>> loc(#loc1)
    %x = tt.load %p : tensor<64x!tt.ptr<i32>> loc(#loc1)
    %y = tt.elementwise_inline_asm "ASM" {constraints = "=v,v", packed_element = 1 : i32, pure = true} %x : tensor<64xi32> -> tensor<64xi32> loc(#loc1)
    tt.store %p, %y : tensor<64x!tt.ptr<i32>> loc(#loc1)
    tt.return loc(#loc1)
  } loc(#loc1)
} loc(#loc1)
#loc1 = loc("k.py":3:1)
"""  # noqa: E501
_SHOWS = (
    '.include "SECRET"', '.INCBIN "SECRET"', 'v_nop\\0A\\09 .incbin "SECRET"', 'v_nop; .include "SECRET"',
    'x: .incbin "SECRET"', '/**/.incbin "SECRET"', '.macro m a\\0A.\\\\a "SECRET"\\0A.endm\\0Am incbin',
    '.irp x, incbin\\0A.\\\\x "SECRET"\\0A.endr', '$(.incbin "SECRET"$)', '.rept 1\\0A.incbin "SECRET"\\0A.endr',
    '.i$(n$|n$)cbin "SECRET"', '.if 1\\0A.incbin "SECRET"\\0A.endif',
)  # fmt: skip


def ir_files(rng: random.Random, scale: int) -> Outcome:
    """Files with IR that are damaged, empty, without a kernel, or whose assembly reads another file.

    Got through: the process ends, an error is raised that is neither ours nor a pass's, or the other file is read.
    """
    through, note, tries = 0, "", 15 * scale
    good = _IR.replace("ASM", "v_mov_b32 $0, $1")
    with tempfile.TemporaryDirectory() as name:
        secret, file, answer = Path(name, "secret.inc"), Path(name, "k.ttir"), Path(name, "answer")
        secret.write_text('.ascii "TOP-SECRET"\n')

        def mutant() -> bytes:
            kind = rng.choice(("cut", "flip", "flip", "other", "shows", "name"))
            if kind == "shows":
                return _IR.replace(
                    "ASM", rng.choice(_SHOWS).replace('"', "\\22").replace("SECRET", str(secret))
                ).encode()
            if kind == "name":  # LLVM writes it into a comment of the assembly
                return good.replace("k.py", f"k\\0A.incbin \\22{secret}\\22\\0A.py").encode()
            if kind == "other":
                private = good.replace("public", "private").encode()
                return rng.choice((b"", b"module {}\n", b"\0" * 9, b"\xff\xfe", b"(" * 20000, private))
            data = bytearray(good.encode())
            for _ in range(rng.choice((1, 1, 3))):
                data[rng.randrange(len(data))] = rng.randrange(256)
            return bytes(data[: rng.randrange(len(data))] if kind == "cut" else data)

        def compile_it() -> None:
            from triton_ext import describe
            from triton_ext.compilation.requests import request_for

            try:
                request_for(str(file), "hip:gfx942")
                describe(str(file), target="hip:gfx942")
            except TritonExtError as error:
                answer.write_text("secret" if "TOP-SECRET" in str(error) else "refused")
            except Exception as error:
                answer.write_text(f"{type(error).__name__}: {str(error)[:200]}")
            else:
                answer.write_text("compiled")

        for _ in range(tries):
            file.write_bytes(data := mutant())
            answer.write_text("")
            child = os.fork()
            if child == 0:
                try:
                    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                    with no_hang():
                        compile_it()
                finally:
                    os._exit(0)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            said = answer.read_text()
            fails = status != 0 or not said.startswith(("refused", "compiled", "RuntimeError"))
            if fails or (b"secret.inc" in data and said != "refused"):
                through += 1
                note = note or f"{status} {said}: {data!r}"
    return Outcome(tries, through, note)


ATTACKS = [
    Attack("damaged libraries", elf),
    Attack("damaged manifests", manifests),
    Attack("pipelines of any text", pipeline_texts),
    Attack("modules that end the process", exits),
    Attack("HTML in the page of a trace", trace_pages),
    Attack("files that IR names", named_files),
    Attack("files with IR", ir_files),
]
