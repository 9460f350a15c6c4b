# SPDX-License-Identifier: Apache-2.0
"""Options are typed Python values. A wrong one is an error before anything is loaded. Arbitrary strings show that the
C++ side survives any of them."""

from __future__ import annotations

import contextlib
import inspect
import string
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import triton_ext as tx
from triton_ext.loading.loader import AddPass, load_library
from triton_ext.loading.manifest import Manifest, Option
from triton_ext.pipeline.extension_passes import PassFactory

OPTION = "option '{}' of pass 'rename': {}"
WRONG: dict[str, tuple[Callable[[], object], type[tx.TritonExtError], str]] = {
    "unknown_option": (
        lambda: tx.passes.ttir.rename(nwe="x"),
        tx.PipelineError,
        "unknown option 'nwe' of pass 'rename'",
    ),
    "valid_options": (lambda: tx.passes.ttir.rename(nwe="x"), tx.PipelineError, "valid options: old, new"),
    "int_for_str": (
        lambda: tx.passes.ttir.rename(new=1),
        tx.PipelineError,
        OPTION.format("new", "expected str, got 1"),
    ),
    "none": (lambda: tx.passes.ttir.rename(new=None), tx.PipelineError, OPTION.format("new", "expected str, got None")),
    "list_for_str": (lambda: tx.passes.ttir.rename(new=["a"]), tx.PipelineError, OPTION.format("new", "expected str")),
    "bytes": (lambda: tx.passes.ttir.rename(new=b"a"), tx.PipelineError, OPTION.format("new", "expected str")),
    "positional": (lambda: tx.passes.ttir.rename("foo", "bar"), tx.PipelineError, "takes its options by keyword"),
    "self": (lambda: tx.passes.ttir.rename(self=1), tx.PipelineError, "unknown option 'self'"),
    "two_quotes": (lambda: tx.passes.ttir.rename(new="'\""), tx.PipelineError, "MLIR has no way to write"),
    "leading_space": (lambda: tx.passes.ttir.rename(new=" a"), tx.PipelineError, "MLIR has no way to write ' a'"),
    "surrogate": (lambda: tx.passes.ttir.rename(new="\udcff"), tx.PipelineError, "MLIR has no way to write"),
    "typo": (lambda: tx.passes.ttir.renam, tx.ExtensionNotFoundError, "for stage 'ttir'; did you mean 'rename'?"),
    "no_such_pass": (lambda: tx.passes.ttir.zzz, tx.ExtensionNotFoundError, "no extension offers a pass 'zzz'"),
    "other_stage": (
        lambda: tx.passes.ttgir.rename,
        tx.ExtensionNotFoundError,
        "for stage 'ttgir'; it is in tx.passes.ttir",
    ),
    "stage_typo": (
        lambda: tx.passes.tttir,
        tx.ExtensionNotFoundError,
        "no stage 'tttir'; there is: ttir, ttgir, llir, llvm, cpuir, linalgir, any, plugin",
    ),
    "placed_in_other_stage": (
        lambda: tx.Pipeline().at_end("ttgir", tx.passes.ttir.rename()),
        tx.PipelineError,
        "pass 'rename' is for stage 'ttir', not for 'ttgir'",
    ),
    "factory_not_called": (
        lambda: tx.Pipeline().at_end("ttir", tx.passes.ttir.rename),  # type: ignore[arg-type]
        tx.PipelineError,
        "is not a pass yet, call it",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use(case: str) -> None:
    use, error, says = WRONG[case]
    with pytest.raises(tx.TritonExtError) as caught:
        use()
    assert type(caught.value) is error
    assert says in str(caught.value)


def test_signature_and_help() -> None:
    factory = tx.passes.ttir.rename
    assert str(inspect.signature(factory)) == (
        "(*, old: str = 'foo', new: str = 'bar') -> triton_ext.pipeline.extension_passes.Pass"
    )
    assert factory.__doc__ is not None
    assert factory.__doc__.startswith("Rename a function and every use of its symbol.\n\nRenames the function")
    assert "\nArgs:\n    old: The function to rename.\n    new: The name that it gets.\n" in factory.__doc__
    assert repr(tx.passes.ttir) == f"<passes for stage ttir: {', '.join(dir(tx.passes.ttir))}>"
    assert "rename" in dir(tx.passes.ttir)
    assert factory(new="b").args == ("new=b",)
    assert factory(old="a", new="b") == factory(new="b", old="a")
    assert len({factory(), factory(), factory(new="b")}) == 2


def declared(kind: str, *, is_list: bool = False, default: str = "") -> PassFactory:
    """Returns a pass with one option ``value`` of the C++ type `kind`."""
    rename = next(e for e in tx.extensions() if e.name == "rename")
    assert rename.plugin is not None
    assert rename.manifest is not None
    options = (Option("value", kind, is_list, default, "An option"),)
    fields: dict[str, Any] = {**vars(rename.manifest), "options": options}
    plugin = type(rename.plugin)(**{**vars(rename.plugin), "manifest": Manifest(**fields)})
    return PassFactory(type(rename)(**{**vars(rename), "plugin": plugin}), "rename")


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("int", [0, -(2**31), 2**31 - 1], [2**31, True, 1.0, "1", None]),
        ("int64_t", [-(2**63), 2**63 - 1], [2**63, -(2**63) - 1, 10**400]),
        ("unsigned", [0, 2**32 - 1], [-1, 2**32]),
        ("uint64_t", [2**64 - 1], [-1, 2**64]),
        ("double", [0.5, 1, -1e300, float("inf")], ["0.5", True, None, 10**400]),
        ("bool", [True, False], [1, 0, "true", None]),
        ("std::string", ["", "a b", 'say "x"', "it's", "{", "a,b=c", "a\nb", "ä"], [1, "a\n", "\ra", "\v"]),
        ("::mine::Color", ["red"], [1, None]),
    ],
)
def test_types(kind: str, good: list[object], bad: list[object]) -> None:
    for value in good:
        assert declared(kind)(value=value).args
    for value in bad:
        with pytest.raises(tx.PipelineError, match="option 'value' of pass 'rename'"):
            declared(kind)(value=value)


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("int64_t", {"value=1,-2": [1, -2], "value=3": (3,)}, [1, "1", [1.0], [True], [2**63], {1}, None]),
        ("std::string", {"value=a,b": ["a", "b"]}, ["ab", ["a,b"], [""], ["a b"], ["'"], ["{"], [1]]),
    ],
)
def test_lists(kind: str, good: dict[str, object], bad: list[object]) -> None:
    for text, value in good.items():
        assert declared(kind, is_list=True)(value=value).args == (text,)
    for value in bad:
        with pytest.raises(tx.PipelineError, match="option 'value' of pass 'rename'"):
            declared(kind, is_list=True)(value=value)


VALUES: dict[str, st.SearchStrategy[object]] = {
    "int": st.integers(-(2**31), 2**31 - 1),
    "uint64_t": st.integers(0, 2**64 - 1),
    "double": st.floats(allow_nan=False) | st.integers(-(2**64), 2**64 - 1),
    "bool": st.booleans(),
    "std::string": st.text(string.ascii_letters + "_-1", max_size=4),
}


@pytest.mark.slow
@pytest.mark.parametrize("is_list", [False, True])
@pytest.mark.parametrize("kind", VALUES)
@given(st.data())
def test_a_pass_is_read_back_from_its_text(kind: str, is_list: bool, data: st.DataObject) -> None:
    """Returns the value as in the text form of a pipeline, and in its key."""
    factory, values = declared(kind, is_list=is_list), VALUES[kind]
    item = values.filter(lambda value: value != "") if is_list else values
    value = data.draw(st.lists(item, max_size=3) if is_list else item)
    made = factory(value=value)
    name, _, text = made.args[0].partition("=")
    assert factory.parse([(name, text)]) == made
    assert factory.change(made.args, {"value": value}) == made.args


def test_an_integer_where_a_float_is_declared_is_that_float() -> None:
    assert declared("double")(value=1) == declared("double")(value=1.0)
    assert declared("double", is_list=True)(value=[1, 2]).args == ("value=1.0,2.0",)


@pytest.mark.parametrize(
    ("kind", "default", "value"),
    [
        ("int", "-3", -3),
        ("unsigned", "2u", 2),
        ("int64_t", "1 << 4", ...),
        ("double", "0.5", 0.5),
        ("float", "1.5f", 1.5),
        ("bool", "true", True),
        ("std::string", r'"a \"b\""', 'a "b"'),
        ("::mine::Color", "::mine::Color::Red", ...),
    ],
)
def test_defaults(kind: str, default: str, value: object) -> None:
    assert inspect.signature(declared(kind, default=default)).parameters["value"].default == value


@pytest.fixture(scope="module")
def add() -> AddPass:
    return load_library(next(e for e in tx.extensions() if e.name == "rename")).add["rename"]


def manager() -> Any:
    from triton._C.libtriton import ir

    return ir.pass_manager(ir.context())


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["bogus=1"], "unknown option 'bogus' of pass 'triton-ext-rename'; valid options: old, new"),
        ([""], "unknown option ''"),
        (["=x"], "unknown option ''"),
        (["new"], "invalid value '' for option 'new' of pass 'triton-ext-rename'; expected std::string"),
        (["new=a' b\""], "invalid value 'a' b\"' for option 'new'"),
    ],
)
def test_raw_arguments(args: list[str], says: str, add: AddPass) -> None:
    with pytest.raises(ValueError, match="option") as caught:
        add(manager(), args)
    assert says in str(caught.value)


SYNTAX = st.text(st.sampled_from("oldnew= '\"{}[](),\\\t\n\0;%" + string.digits), max_size=20)


@pytest.mark.slow
@given(st.lists(st.one_of(st.text(max_size=30), SYNTAX, st.builds("new={}".format, SYNTAX)), max_size=4))
@settings(deadline=None)
@example(["new={"])
@example(["new=" + "{" * 10_000])
@example(["new='" + "a" * 100_000])
def test_any_argument_is_taken_or_refused(add: AddPass, args: list[str]) -> None:
    """This runs in the test's own process: no string may end it, or raise another error."""
    with contextlib.suppress(ValueError):
        add(manager(), args)
