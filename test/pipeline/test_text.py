# SPDX-License-Identifier: Apache-2.0
"""The text form of a pipeline: what it means, what it prints as, and where an error points."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_ext as tx
from support import forked_python
from support.pipeline import seen
from triton_ext.pipeline.extension_passes import texts_of
from triton_ext.pipeline.listing_form import _difference
from triton_ext.pipeline.scope import Active
from triton_ext.pipeline.text_form import read, syntax
from triton_ext.support.diff import diff
from triton_ext.support.shown import printable, shown

P = tx.Pipeline
RENAME = tx.passes.ttir.rename
B = tx.builtin
SEEN = seen.__name__


def stage_function(source: Any, metadata: dict[str, Any], inner: Any) -> Any:
    return inner(source, metadata)


MEANS: dict[str, tx.Pipeline] = {
    "": P(),
    " ;, \n ": P(),
    "skip(cse)": P().skip("cse"),
    "ttgir: skip(cse)": P().skip("ttgir:cse"),
    "skip( ttgir:cse#2 )": P().skip("ttgir:cse#2"),
    "ttir: skip(a), skip(b); skip(c); ttgir : skip(d)": (
        P().skip("ttir:a").skip("ttir:b").skip("ttir:c").skip("ttgir:d")
    ),
    "ttir: skip(a); *: skip(b)": P().skip("ttir:a").skip("b"),
    "ttir:skip(llir:a),skip(b)": P().skip("llir:a").skip("ttir:b"),
    "skip(nvidia.*#last)": P().skip("nvidia.*#last"),
    "ttir: after(loop_unroll, rename)": P().after("ttir:loop_unroll", RENAME()),
    "after(loop_unroll, rename{old=x new=y}, common.cse)": P().after(
        "loop_unroll", RENAME(old="x", new="y"), B.common.cse()
    ),
    "ttir: at_start(rename{new=}), at_end(rename{new=''})": (
        P().at_start("ttir", RENAME(new="")).at_end("ttir", RENAME(new=""))
    ),
    'ttir: at_end(rename{new="a \\"b\\" {c} \\u00e9"})': P().at_end("ttir", RENAME(new='a "b" {c} é')),
    "ttir: at_end(rename{new=a,b#c})": P().at_end("ttir", RENAME(new="a,b#c")),
    "ttgir: at_end(ttgpuir.pipeline{num-stages=3 dump-intermediate-steps=false})": P().at_end(
        "ttgir", B.ttgpuir.pipeline(3, False)
    ),
    "ttgir: at_end(ttgpuir.pipeline{dump_intermediate_steps num_stages=3})": P().at_end(
        "ttgir", B.ttgpuir.pipeline(3, True)
    ),
    "set(pipeline, num-stages=4, dump_intermediate_steps=true)": P().set(
        "pipeline", num_stages=4, dump_intermediate_steps=True
    ),
    'set(x, a=-3, b=word, c="3", d="true", e="a b")': P().set("x", a=-3, b="word", c="3", d="true", e="a b"),
    "set(x, scale=1, half=0.5, tiny=1e-05, huge=-1e+30)": P().set("x", scale=1, half=0.5, tiny=1e-5, huge=-1e30),
    "set(x, self=1, anchor=2)": P().set("x", **{"self": 1, "anchor": 2}),
    f"ttir: at_end({SEEN}:mark)": P().at_end("ttir", seen.mark),
    "ptx: stage(test_text:stage_function)": P().stage("ptx", stage_function),
    "skip(cse, on_missing=warn)": P().skip("cse", on_missing="warn"),
    "set(cse, on_missing=ignore, a=1)": P().set("cse", on_missing="ignore", a=1),
    "glir: at_end(common.cse, on-missing=ignore)": P().at_end("glir", B.common.cse(), on_missing="ignore"),
    "# all of it\nttir: skip(a), # the first\n  skip(b) # the second\n": P().skip("ttir:a").skip("ttir:b"),
}


@pytest.mark.parametrize("text", MEANS)
def test_means(text: str) -> None:
    assert P.parse(text) == MEANS[text]


@pytest.mark.parametrize("pipeline", MEANS.values(), ids=str)
def test_prints_as_what_it_is_read_from(pipeline: tx.Pipeline) -> None:
    assert P.parse(str(pipeline)) == pipeline


@pytest.mark.parametrize("pipeline", MEANS.values(), ids=str)
def test_is_shown_as_its_text(pipeline: tx.Pipeline) -> None:
    assert repr(pipeline) == (str(pipeline) or "Pipeline()")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, [1]])
def test_what_has_no_text_cannot_be_set(value: Any) -> None:
    with pytest.raises(tx.PipelineError, match="argument 'x': expected int, finite float, bool or str, got"):
        P().set("cse", x=value)


def test_prints_stages_once() -> None:
    pipeline = P().skip("a").skip("ttir:b").skip("ttir:c").skip("d").after("ttgir:e", B.common.cse())
    assert str(pipeline) == "skip(a); ttir: skip(b), skip(c); *: skip(d); ttgir: after(e, common.cse)"


# The mark ^ is where the error points.
ERRORS: dict[str, str] = {
    "ttir: ^sikp(cse)": "unknown edit 'sikp', did you mean 'skip'?",
    "^loop_unroll": "unknown edit 'loop_unroll', expected one of before, after, at_start, at_end, replace",
    "skip^": "expected '(' after 'skip', found the end",
    "skip ^cse)": "expected '(' after 'skip', found 'c'",
    "skip(cse^": "expected ',' or ')', found the end",
    "skip(cse ^cse)": "expected ',' or ')', found 'c'",
    "skip(cse) ^skip(cse)": "expected ',' or ';' before the next edit, found 's'",
    "^skip()": "'skip' begins with an anchor",
    "ttir: skip(a);\nskip(b);\n  ^skop(c)": ", line 3, character 3: unknown edit 'skop'",
    "after(cse, common.cse^{a": "this '{' is not closed",
    "after(cse, ^common.cse{a=1})": "pass 'common.cse': unknown argument 'a'; it takes: none",
    "after(cse, ^common.csx)": "libtriton has no pass 'common.csx'; did you mean 'common.cse'?",
    "after(cse, ^renam)": "'renam'",
    "ttgir: after(cse, ^rename)": "'rename'",
    "ttir: at_end(^rename{olt=x})": "unknown option 'olt' of pass 'rename'; valid options: old, new",
    "ttir: at_end(^rename{old=x old=y})": "option 'old' is given twice",
    "ttir: at_end(^rename{=x})": "malformed options",
    "ttgir: at_end(^ttgpuir.pipeline{num-stages=many})": "'num_stages': expected int, got 'many'",
    "ttgir: at_end(^ttgpuir.pipeline{num-stages=1 num_stages=2})": "option 'num_stages' is given twice",
    "ttgir: at_end(^ttgpuir.pipeline{self=1})": "unknown argument 'self'",
    "ttir: at_end(^nowhere:function)": "'nowhere:function': No module named 'nowhere'",
    f"ttir: at_end(^{SEEN}:nothing)": f"module '{SEEN}' has no attribute 'nothing'",
    f"ttir: at_end(^{SEEN}:)": f"'{SEEN}:' is not a function, expected module:function",
    f"ttir: at_end(^{SEEN}:mark{{a=1}})": f"'{SEEN}:mark' is a function, which takes no options",
    f"ttir: at_end(^{SEEN}:TARGETS)": "expected a pass",
    "^at_end(common.cse)": "'at_end' needs its stage before it, as in 'ttir: at_end(...)'",
    "ttir: ^at_end()": "expected at least one pass",
    "ttir: ^skip()": "'skip' begins with an anchor, as in skip(loop_unroll)",
    "ttir: ^after(cse{a=1}, rename)": "'after' begins with an anchor",
    "skip(^cse#0)": "'cse#0' is not an anchor",
    "skip(cse, ^rename)": "'skip' takes no pass",
    "skip(cse, ^a=1)": "'skip' takes no argument 'a'",
    "ttir: ^skip(cse, on_missing=never)": "on_missing: expected one of error, warn, ignore, got 'never'",
    "set(cse, a=1, ^a=2)": "'a' is given twice",
    'set(cse, ^a="\\q")': 'malformed string "\\q"',
    "set(cse, a=^)": "expected a value for 'a'",
    'set(cse, a=^"x)': "expected a value for 'a'",
    "^set(cse)": "expected an argument to set",
    "ptx: ^stage()": "'stage' takes one function",
    f"ptx: ^stage({SEEN}:mark, {SEEN}:mark)": "'stage' takes one function",
    "ttir: ^at_end(common.cse, on_missing=3)": "on_missing: expected one of",
}


@pytest.mark.parametrize("marked", ERRORS)
def test_an_error_points_at_its_place(marked: str) -> None:
    before, _, after = marked.partition("^")
    with pytest.raises(tx.PipelineError) as error:
        P.parse(before + after)
    *message, line, pointer = str(error.value).splitlines()
    assert ERRORS[marked] in "\n".join(message)
    assert line == "  " + (before + after).splitlines()[before.count("\n")]
    column = len(before.rpartition("\n")[2])
    assert pointer == "  " + " " * column + "^"
    assert f"character {column + 1}: " in message[0]
    assert (", line " in message[0]) == ("\n" in before)


def test_what_conflicts_is_refused() -> None:
    with pytest.raises(tx.PipelineError, match="is given twice"):
        P.parse("skip(a), skip(a)")


def test_syntax_looks_nothing_up() -> None:
    syntax("ttir: at_end(nowhere:function, no_such_pass{a=1}); skip(x)")
    with pytest.raises(tx.PipelineError, match="character 9"):
        syntax("skip(x) skip(y)")


def test_a_module_that_fails_on_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_module.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(tx.PipelineError, match="importing it raised ZeroDivisionError: division by zero"):
        P.parse("ttir: at_end(broken_module:function)")


def test_functions_are_found_beside_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "beside.py").write_text("class Outer:\n    @staticmethod\n    def inner(module):\n        pass\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    pipeline = P.parse("ttir: at_end(beside:Outer.inner)")
    assert str(pipeline) == "ttir: at_end(beside:Outer.inner)"
    assert P.parse(str(pipeline)) == pipeline


# ---------------------------------------------------------------------------
# Generated
# ---------------------------------------------------------------------------

WORDS = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
STAGES = st.sampled_from(["ttir", "ttgir", "llir", "glir", "ptx"])
ANCHORS = st.builds(
    lambda stage, name, ordinal: f"{stage}{name}{ordinal}",
    st.one_of(st.just(""), STAGES.map(lambda s: f"{s}:")),
    st.from_regex(r"[a-z_*?][a-z0-9_.*?-]{0,12}", fullmatch=True),
    st.sampled_from(["", "", "#1", "#27", "#last"]),
)
# What MLIR can be given as an option; see test_options.py.
OPTIONS = st.text(max_size=8).filter(
    lambda s: s == s.strip(" \t\n\v\f\r") and not {"'", '"'} <= set(s) and not any("\ud800" <= c <= "\udfff" for c in s)
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.one_of(
    st.integers(), FLOATS, st.booleans(), st.text(max_size=8).filter(lambda s: s.isprintable() or s.isascii())
)
ENTRIES = st.one_of(
    st.builds(lambda old, new: RENAME(old=old, new=new), OPTIONS, OPTIONS),
    st.just(B.common.cse()),
    st.builds(B.ttgpuir.pipeline, st.integers(-(2**31), 2**31 - 1), st.booleans()),
    st.builds(lambda target: B.ttir.convert_to_ttgpuir(target, 4, 32, 1), VALUES.filter(lambda v: type(v) is str)),
    st.just(seen.mark),
)
ON_MISSING = st.sampled_from(["error", "warn", "ignore"])


@st.composite
def edited(draw: st.DrawFn, pipeline: tx.Pipeline) -> tx.Pipeline:
    """`pipeline` with one more edit."""
    verb = draw(st.sampled_from(["before", "after", "replace", "skip", "set", "at_start", "at_end", "stage"]))
    method = getattr(pipeline, verb)
    missing = draw(ON_MISSING)
    if verb == "skip":
        return method(draw(ANCHORS), on_missing=missing)
    if verb == "set":
        return method(draw(ANCHORS), on_missing=missing, **draw(st.dictionaries(WORDS, VALUES, min_size=1, max_size=3)))
    if verb == "stage":
        return method(draw(STAGES), stage_function, on_missing=missing)
    entries = draw(st.lists(ENTRIES, min_size=1, max_size=3))
    return method(draw(STAGES if verb.startswith("at_") else ANCHORS), *entries, on_missing=missing)


@st.composite
def pipelines(draw: st.DrawFn) -> tx.Pipeline:
    pipeline = P()
    for _ in range(draw(st.integers(0, 5))):
        try:
            pipeline = draw(edited(pipeline))
        except tx.PipelineError:  # a pass of another stage, or an edit that contradicts an earlier one
            continue
    return pipeline


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(pipelines())
def test_every_pipeline_is_read_back_from_its_text(pipeline: tx.Pipeline) -> None:
    text = str(pipeline)
    assert "\n" not in text.replace("\\n", "")
    assert P.parse(text) == pipeline
    assert Active(P.parse(text).edits).key == Active(pipeline.edits).key
    assert P.parse(re.sub(r"(?<=\)); |(?<=\)), ", "\n;  # and\n", text)) == pipeline


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.text(alphabet='skipafterset(){}:;,.#*=" \n\\abttir_1', max_size=40))
def test_no_text_breaks_the_parser(text: str) -> None:
    with contextlib.suppress(tx.TritonExtError):
        assert isinstance(P.parse(text), P)


@pytest.mark.slow
@given(st.lists(st.text(max_size=6), max_size=4))
def test_arguments_of_a_foreign_plugin_may_be_anything(arguments: list[str]) -> None:
    from triton_ext.pipeline.text_form import _ARGUMENT, _unquoted

    text = " ".join(texts_of(arguments, named=False))
    assert [_unquoted(match[0]) for match in _ARGUMENT.finditer(text)] == arguments


BAD_TEXTS = {
    "ttir: after(combine, loop_split{max-splits=" + "9" * 5000 + "})": "is out of the range|expected int",
    "ttgir: set(pipeline, num_stages=" + "9" * 5000 + ")": "an integer of 5,000 digits, expected at most 300",
    "ttir: skip(combine#" + "9" * 5000 + ")": "an ordinal of 5,000 digits",
}


@pytest.mark.parametrize("text", BAD_TEXTS, ids=["option", "argument", "ordinal"])
def test_integers_of_many_digits(text: str) -> None:
    with pytest.raises(tx.PipelineError, match=BAD_TEXTS[text]):
        tx.Pipeline.parse(text)


def test_integers_of_many_digits_in_python() -> None:
    with pytest.raises(tx.PipelineError, match=r"an integer of 16,\d+ bits"):
        tx.Pipeline().set("ttgpuir.pipeline", num_stages=10**5000)
    with pytest.raises(tx.PipelineError, match=r"an integer of 16,\d+ bits"):
        tx.passes.ttir.loop_split(max_splits=10**5000)


HUGE = 10**5000


@pytest.mark.parametrize(
    "make",
    [
        lambda: tx.passes.ttir.rename(old=HUGE),
        lambda: tx.passes.ttir.loop_split(max_splits=[HUGE]),
        lambda: tx.Pipeline().set("ttgpuir.pipeline", num_stages=[HUGE]),
        lambda: tx.Pipeline().skip(HUGE),
        lambda: tx.Pipeline().skip("loop_unroll", on_missing=HUGE),
        lambda: tx.Pipeline().after("loop_unroll", HUGE),
        lambda: tx.Pipeline().after("loop_unroll", [HUGE]),
        lambda: tx.Pipeline().stage(HUGE, print),
        lambda: tx.Pipeline((HUGE,)),
        lambda: tx.Pipeline.parse(HUGE),
        lambda: tx.use(HUGE),
        lambda: tx.use(tx.Pipeline())(HUGE),
        lambda: tx.sweep(HUGE),
        lambda: tx.sweep("ttgpuir.pipeline", num_stages=HUGE),
        lambda: tx.trace(HUGE, target="cuda:90"),
        lambda: tx.load(HUGE),
    ],
)
def test_what_no_message_can_hold_is_named_by_its_type(make: Callable[[], object]) -> None:
    """Python refuses to print an integer of more than 4,300 digits, alone or in a list."""
    with pytest.raises(tx.TritonExtError, match=r"(an integer of 16,\d+ bits|a \w+ that cannot be shown)") as caught:
        make()
    assert len(str(caught.value)) < 500


class Rude:
    def __repr__(self) -> str:
        raise SystemExit


def test_values_are_shown_short_whatever_they_are() -> None:
    assert shown("a") == "'a'"
    assert shown(Rude()) == "a Rude that cannot be shown"
    assert shown(True) == "True"
    assert shown("x" * 1000) == "'" + "x" * 199 + "..."
    assert printable("a\x1b[2J\ud800é\n") == "a\\x1b[2J\\ud800é\\n"


@pytest.mark.parametrize("text", ["@a\0b", "@/", "@" + "x" * 5000])
def test_files_that_cannot_be(text: str) -> None:
    with pytest.raises(tx.PipelineError, match="pipeline file"):
        read(text)


IMPORTED = {
    "raise SystemExit(3)": "importing it raised SystemExit: 3",
    "import sys; sys.exit()": "importing it raised SystemExit",
    "1 / 0": "importing it raised ZeroDivisionError",
    "import pytest; pytest.skip('later', allow_module_level=True)": "importing it raised Skipped: later",
    "class E(BaseException): pass\nraise E('x')": "importing it raised E: x",
    "raise GeneratorExit": "importing it raised GeneratorExit",
    "class E(Exception):\n  def __str__(self): raise SystemExit\nraise E": "importing it raised E: E",
    "class E(ImportError):\n  def __str__(self): raise ValueError\nraise E": r"'\w+:f': E\n",
    "f = 1": "is not a function|expected a function|not callable|int",
}


@pytest.mark.parametrize("code", IMPORTED)
def test_what_an_imported_module_raises(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory is searched for the module, and is not on the path afterwards."""
    name = f"imported_{abs(hash(code))}"
    (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place not in ("", os.getcwd())])
    before = list(sys.path)
    with pytest.raises(tx.PipelineError, match=IMPORTED[code]):
        tx.Pipeline.parse(f"ttir: stage({name}:f)")
    assert sys.path == before


def test_ctrl_c_while_importing_is_ctrl_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stopped_import.py").write_text("raise KeyboardInterrupt")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        tx.Pipeline.parse("ttir: stage(stopped_import:f)")


@pytest.mark.parametrize("code", [code for code in IMPORTED if "raised" in IMPORTED[code]])
def test_what_the_file_of_a_kernel_raises(code: str, tmp_path: Path) -> None:
    file = tmp_path / f"kernels_{abs(hash(code))}.py"
    file.write_text(code)
    with pytest.raises(tx.TritonExtError, match=IMPORTED[code].replace("importing it", f"{file.name}")):
        tx.trace(f"{file}:k", target="cuda:90")
    assert file.stem not in sys.modules


@pytest.mark.slow
def test_the_working_directory_is_not_left_on_the_path(tmp_path: Path) -> None:
    """The path is restored whether the import succeeds or fails; with ``python -P`` the directory is not searched at
    all."""
    (tmp_path / "mine.py").write_text("import beside\ndef f(module, metadata): pass\n")
    (tmp_path / "beside.py").write_text("")
    code = """
import os, sys
sys.path[:] = [place for place in sys.path if place not in ("", os.getcwd())]
import triton_ext as tx
for name in ("mine", "nowhere"):
    try:
        print(bool(tx.Pipeline.parse(f"ttir: stage({name}:f)")))
    except tx.PipelineError as error:
        print("No module" in str(error))
print({"", os.getcwd()} & set(sys.path))
"""
    for flags, found in (([], "True\nTrue\nset()\n"), (["-P"], "True\nTrue\nset()\n")):
        done = forked_python.run([sys.executable, *flags, "-c", code], cwd=tmp_path)
        assert done.stdout == found, done.stderr


def test_a_listing_of_thousands_of_lines() -> None:
    """The time grows almost linearly. It once took minutes if every line differs, and hours if names repeat."""
    base = [f"  common.cse{{n={i}}}" for i in range(3000)]
    edited = [f"  common.cse{{n={i + 1}}}" for i in range(3000)]
    started = time.monotonic()
    edits = list(_difference([line.strip() for line in base], [f"{line.strip()}x" for line in edited]))
    assert len(edits) == 3000
    assert time.monotonic() - started < 20  # 0.1 s on an idle machine


@pytest.mark.slow
@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abcd"), max_size=12))
def test_blocks_of_a_difference(before: list[str], after: list[str]) -> None:
    """The matches cover both lists in order, and equal items are matched as equal."""
    at, at_after = 0, 0
    for same, a, a_end, b, b_end in diff(before, after):
        assert (a, b) == (at, at_after)
        assert (before[a:a_end] == after[b:b_end]) is same
        at, at_after = a_end, b_end
    assert (at, at_after) == (len(before), len(after))
