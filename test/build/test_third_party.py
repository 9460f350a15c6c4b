# SPDX-License-Identifier: Apache-2.0
"""A third-party project outside the tree builds a pass with an option of each kind through ``find_package(TritonExt)``,
and the pass gets the values from Python unchanged."""

from __future__ import annotations

import inspect
import pydoc
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_ext as tx
from triton_ext.authoring.build import build_tree
from triton_ext.authoring.catalogue import catalogue, option_text
from triton_ext.errors import BuildError
from triton_ext.loading import discovery, loader

pytestmark = pytest.mark.slow
FIXTURES = Path(__file__).parent / "fixtures"
Run = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the library in a directory with a name that breaks careless scripts."""
    source = tmp_path_factory.mktemp("out of tree, ünd so") / "src"
    shutil.copytree(FIXTURES, source)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CCACHE_BASEDIR", str(source.parent))
        build_tree(source, source.parent / "build")
    return source.parent / "build" / "every_option" / "libtriton_ext_every_option.so"


@pytest.fixture(scope="module")
def run(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """``run(option=value, ...)`` returns the values that the pass got, read back from the module."""
    from triton._C.libtriton import ir

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(discovery, "by_hand", {})
        extension = tx.load(library)
        factory = tx.passes.ttir.every_option
    add = loader.load_library(extension).add["every_option"]
    empty = tmp_path_factory.mktemp("ir") / "empty.mlir"
    empty.write_text("module {}")
    context = ir.context()
    ir.load_dialects(context)

    def values(raw: list[str] | None = None, **options: object) -> dict[str, Any]:
        module = ir.parse_mlir_module(str(empty), context)
        manager = ir.pass_manager(context)
        add(manager, list(factory(**options).args) if raw is None else raw)
        manager.run(module, "test")
        return read_attributes(str(module))

    return values


def read_attributes(module: str) -> dict[str, Any]:
    """Returns the ``test.*`` attributes of a printed module; texts are hexadecimal after an x."""

    def read(text: str) -> Any:
        if text.startswith("["):
            return [read(item) for item in text[1:-1].split(", ") if item]
        if text.startswith('"x'):
            return bytes.fromhex(text[2:-1]).decode()
        number = text.partition(" : ")[0]
        return number == "true" if number in ("true", "false") else float(number)

    _, _, rest = module.partition("attributes {")
    attributes = rest[: rest.index("} {")]
    pairs = [item.split(" = ") for item in attributes.split("test.")[1:]]
    return {name: read(value.removesuffix(", ")) for name, value in pairs}


DEFAULTS = {
    "small": -3,
    "max_splits": 1,
    "count": 2,
    "wide": "7",
    "flag": False,
    "ratio": 0.5,
    "text": 'a "b"',
    "color": "red",
    "sizes": [],
    "names": [],
}


def test_found_and_described(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_EXT_PATH", str(library.parent))
    (extension,) = [e for e in tx.extensions() if e.origin == "TRITON_EXT_PATH"]
    assert (extension.name, extension.stage, extension.version) == ("every_option", "ttir", "0.0.0")
    assert extension.problem is None
    doc = tx.passes.ttir.every_option.__doc__ or ""
    assert doc.startswith('Write every option on the "module".\n\nOne option of each kind')
    assert "\nattributes of the module. Backslashes \\ and ümlauts stay.\n" in doc


def test_an_enum_has_choices(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The values are in the signature and in help, and a wrong one is refused without a call of C++."""
    monkeypatch.setenv("TRITON_EXT_PATH", str(library.parent))
    factory = tx.passes.ttir.every_option
    parameter = inspect.signature(factory).parameters["color"]
    assert (parameter.annotation, parameter.default) == (Literal["red", "dark-blue"], "red")
    assert " color: An enumeration. One of: red, dark-blue.\n" in pydoc.plain(pydoc.render_doc(factory))
    (listed,) = (p for p in catalogue() if p.argument == "triton-ext-every-option")
    assert "color=<red|dark-blue> [red]" in map(option_text, listed.options)
    for value in ("green", "Red", "", "dark_blue"):
        says = f"option 'color' of pass 'every_option': expected one of red, dark-blue, got {value!r}"
        with pytest.raises(tx.PipelineError, match=re.escape(says)):
            factory(color=value)
    with pytest.raises(tx.PipelineError, match="expected one of red, dark-blue, got 'green'"):
        tx.Pipeline.parse("ttir: at_end(every_option{color=green})")


def test_defaults(run: Run) -> None:
    assert run() == DEFAULTS


@pytest.mark.parametrize(
    ("options", "arrived"),
    [
        ({"small": -(2**31)}, {}),
        ({"max_splits": 2**53}, {}),
        ({"count": 2**32 - 1}, {}),
        ({"wide": 2**64 - 1}, {"wide": str(2**64 - 1)}),
        ({"flag": True}, {}),
        ({"flag": False}, {}),
        ({"ratio": 1e22}, {}),
        ({"ratio": 3}, {}),
        ({"color": "dark-blue"}, {}),
        ({"text": ""}, {}),
        ({"sizes": [1, -2, 3]}, {}),
        ({"sizes": (7,)}, {"sizes": [7]}),
        ({"names": ["a", "b;c"]}, {}),
        ({"text": "a max-splits=4", "small": 1, "names": ["x"]}, {}),
    ],
)
def test_values_arrive(options: dict[str, object], arrived: dict[str, object], run: Run) -> None:
    assert run(**options) == {**DEFAULTS, **options, **arrived}


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ("small=x", "invalid value 'x' for option 'small' of pass 'triton-ext-every-option'; expected int"),
        ("small=2147483648", "invalid value '2147483648' for option 'small'"),
        ("small=", "invalid value '' for option 'small'"),
        ("max-splits=9223372036854775808", "expected int64_t"),
        ("count=-1", "expected unsigned"),
        ("flag=yes", "invalid value 'yes' for option 'flag'"),
        ("ratio=1.x", "expected double"),
        ("color=green", "invalid value 'green' for option 'color'"),
        ("sizes=1,,2", "expected a list of int64_t"),
        ("sizes=1 small=5", "expected a list of int64_t"),
        ("sizes", "invalid value '' for option 'sizes'"),
        ("max_splits=1", "valid options: small, max-splits, count, wide, flag, ratio, text, color, sizes, names"),
    ],
)
def test_wrong_raw_values(raw: str, says: str, run: Run) -> None:
    with pytest.raises(ValueError, match="option") as caught:
        run([raw])
    assert says in str(caught.value)


@given(st.one_of(st.text(), st.text(st.sampled_from("ab '\"{}[](),=\\\t\n\v\r\0"), max_size=8)))
@settings(max_examples=400, deadline=None)
def test_any_text_arrives_or_is_refused(run: Run, text: str) -> None:
    try:
        arrived = run(text=text)
    except tx.PipelineError:
        return
    assert arrived == {**DEFAULTS, "text": text}


@given(st.lists(st.text(st.sampled_from("ab '\"{}[](),=\\\t\n\v\r\0;"), max_size=4), min_size=1, max_size=3))
@settings(max_examples=400, deadline=None)
def test_any_list_of_texts_arrives_or_is_refused(run: Run, texts: list[str]) -> None:
    try:
        arrived = run(names=texts)
    except tx.PipelineError:
        return
    assert arrived == {**DEFAULTS, "names": texts}


def test_gcc_is_refused(tmp_path: Path) -> None:
    """The compiler is the one that CMake chooses by itself."""
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    with pytest.raises(BuildError, match="the C\\+\\+ compiler must be clang, found GNU") as caught:
        build_tree(FIXTURES, tmp_path, definitions=("CMAKE_CXX_COMPILER=g++",))
    assert caught.value.fix == "apt-get install clang-19 && cmake -DCMAKE_CXX_COMPILER=clang++-19"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [(["sizes="], []), (["sizes=1,2"], [1.0, 2.0])],
)
def test_raw_lists(run: Run, raw: list[str], expected: list[float]) -> None:
    assert run(raw)["sizes"] == expected


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (["names=a,b small=5"], "invalid value 'a,b small=5' for option 'names'"),
        (["sizes=1", "sizes=2"], "option 'sizes' of pass 'triton-ext-every-option' is given twice"),
        (["sizes=1,x"], "expected a list of"),
    ],
)
def test_raw_mistakes(run: Run, raw: list[str], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        run(raw)
