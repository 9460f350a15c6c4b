# SPDX-License-Identifier: Apache-2.0
"""The cache key of a Python function changes whenever the function may behave differently, and is the same in every
process."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import triton
from triton.backends.compiler import GPUTarget

import triton_ext as tx
from support.pipeline.function_shapes import SHAPES
from support.pipeline.kernels import softmax, source, squares
from triton_ext.keys.fingerprint import fingerprint
from triton_ext.keys.watch import Watch
from triton_ext.pipeline import stack


def made(code: str, name: str = "f", **variables: Any) -> Any:
    """Runs `code` as a module without a file, and returns its global `name`."""
    namespace: dict[str, Any] = {"__name__": "made", **variables}
    exec(compile(textwrap.dedent(code), "made", "exec", dont_inherit=True), namespace)
    return namespace[name]


# Each code, with pairs of replacements that change its behaviour.
DIFFERENT: dict[str, tuple[str, str]] = {
    **{shape: (code, "1 2") for shape, code in SHAPES.items()},
    "a constant": ("def f(m): return #", "1 2"),
    "a constant of another type": ("def f(m): return #", "1 1.0 True '1'"),
    "the sign of zero": ("def f(m): return #", "0.0 -0.0"),
    "a name": ("def f(m): m.#()", "erase walk"),
    "an operator": ("def f(m): return m # 2", "+ -"),
    "a global": ("x = #\ndef f(m): return x", "1 2"),
    "a global list": ("x = [1, #]\ndef f(m): return x", "1 2"),
    "a nested dict": ("x = {'a': [{'b': #}]}\ndef f(m): return x", "1 2"),
    "a set": ("x = {1, #}\ndef f(m): return x", "2 3"),
    "a global that shadows a builtin": ("#\ndef f(m): return len", "pass len=3"),
    "a default": ("def f(m, x=#): return x", "1 2"),
    "a keyword default": ("def f(m, *, x=#): return x", "1 2"),
    "a variable": ("def g():\n  x = #\n  def f(m): return x\n  return f\nf = g()", "1 2"),
    "a variable of a variable": (
        "def g():\n  x = #\n  def h(): return x\n  def f(m): return h()\n  return f\nf = g()",
        "1 2",
    ),
    "a helper's helper's global": ("x = #\ndef k(): return x\ndef h(): return k()\ndef f(m): return h()", "1 2"),
    "a global of a lambda within": ("x = #\nf = lambda m: [lambda: x for _ in m]", "1 2"),
    "a default within": ("def f(m):\n  def h(x=#): return x\n  return h()", "1 2"),
    "what is caught": ("def f(m):\n  try: m()\n  except #: pass", "KeyError ValueError"),
    "how far a try goes": ("def f(m):\n  try:\n    a()\n    #b()\n  except E: pass\n  #c()", "|b();| |\x00|"),
    "an import": ("def f(m):\n  import # as x\n  x.f(m)", "json csv"),
    "a partial's argument": ("import functools\nf = functools.partial(lambda m, x: x, x=#)", "1 2"),
    "a partial's function": ("import functools\nf = functools.partial(lambda m, x: #, x=1)", "1 2"),
    "an attribute": ("class A:\n  def __call__(s, m): return s.x\nf = A()\nf.x = #", "1 2"),
    "a slot": ("class A:\n  __slots__ = 'x'\n  def __call__(s, m): return s.x\nf = A()\nf.x = #", "1 2"),
    "a slot of a base": (
        "class B:\n  __slots__ = 'x'\nclass A(B):\n  __slots__ = ()\n  def __call__(s, m): s.x\nf = A()\nf.x = #",
        "1 2",
    ),
    "a class's attribute": ("class A:\n  x = #\nf = lambda m: A.x", "1 2"),
    "what a class closes over": (
        "def g(x):\n  class A:\n    def __call__(s, m): return x\n  return A()\nf = g(#)",
        "1 2",
    ),
    "a bound method's object": ("class A:\n  def g(s, m): return s.x\na = A()\na.x = #\nf = a.g", "1 2"),
    "a dataclass's field": (
        "import dataclasses\n@dataclasses.dataclass\nclass A:\n  x: int = #\na = A()\nf = lambda m: a.x",
        "1 2",
    ),
    "a dataclass's method": (
        "import dataclasses\n@dataclasses.dataclass\nclass A:\n  x: int = 1\n  def __call__(s, m): return #\nf = A()",
        "1 2",
    ),
    "a dataclass's other attribute": (
        "import dataclasses\n@dataclasses.dataclass\nclass A:\n  def __post_init__(s): s.y = #\nf = lambda m, a=A(): a",
        "1 2",
    ),
    "an enumerator": ("import enum\nclass E(enum.Enum):\n  A = 1\n  B = 2\nf = lambda m: x\nx = E.#", "A B"),
    "an enumerator's value": ("import enum\nclass E(enum.Enum):\n  A = #\nx = E.A\nf = lambda m: x.value", "1 2"),
    "an expression": ("import re\nx = re.compile('#')\nf = lambda m: x.match(m)", "a b"),
    "a path": ("from pathlib import Path\nx = Path('#')\nf = lambda m: x", "a b"),
    "a function's attribute": ("def h(): return h.x\nh.x = #\nf = lambda m: h.x", "1 2"),
    "an attribute of a function in a list": ("def h(): ...\nh.x = #\nL = [h]\nf = lambda m: L[0].x", "1 2"),
    "a function's name": ("def h(): ...\nh.__name__ = '#'\nL = [h]\nf = lambda m: L[0].__name__", "a b"),
    "a partial's attribute": ("import functools\nx = functools.partial(int)\nx.y = #\nf = lambda m: x.y", "1 2"),
    "a text's attribute": ("class A(str): ...\nx = A()\nx.y = #\nf = lambda m: x.y", "1 2"),
    "a dict's attribute": ("class A(dict): ...\nx = A()\nx.y = #\nf = lambda m: x.y", "1 2"),
    "a list's slot": ("class A(list): __slots__ = 'y'\nx = A()\nx.y = #\nf = lambda m: x.y", "1 2"),
    "an enumerator's attribute": ("import enum\nclass E(enum.Enum): A = 1\nx = E.A\nx.y = #\nf = lambda m: x.y", "1 2"),
    "what a list hides": ("class A(list):\n  def __iter__(s): return iter(())\nx = A([#])\nf = lambda m: x[0]", "1 2"),
    "how a text shows itself": ("class A(str):\n  def __repr__(s): return ''\nx = A(#)\nf = lambda m: x + m", "1 2"),
    "how long a queue may be": ("import collections\nx = collections.deque((), #)\nf = lambda m: x", "1 2"),
    "how much is cached": (
        "import functools\n@functools.lru_cache(#)\ndef h(): ...\nf = lambda m: h.cache_info()",
        "1 2",
    ),
    "a logger's level": ("import logging\nx = logging.Logger('x', #)\nf = lambda m: x.level", "1 2"),
    "an array's strides": ("import numpy\nx = numpy.zeros((2, 3), order=#)\nf = lambda m: x.strides", "'C' 'F'"),
    "a builtin": ("x = #\nf = lambda m: x(m)", "len repr"),
    "a type": ("x = #\nf = lambda m: x(m)", "int float"),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_another_function_has_another_key(case: str) -> None:
    code, values = DIFFERENT[case]
    keys = []
    for value in values.split():
        parts = value.split("|")
        text = code.replace("#", value) if len(parts) == 1 else moved(code, parts[1])
        keys.append(fingerprint(made(text)))
        assert keys[-1] == fingerprint(made(text)), "made twice, it has one key"
    assert len(set(keys)) == len(keys)


def moved(code: str, call: str) -> str:
    """Returns code with `b()` inside the try, or after it."""
    inside, after = ("b()", "pass") if "b" in call else ("pass", "b()")
    return code.replace("#b()", inside).replace("#c()", after)


SAME = {
    "a comment and a place": ("def f(m):\n  return x\nx = 1", "# moved\n\ndef f(m):\n\n  return x # here\nx = 1"),
    "something else": ("def f(m): return 1\nx = 1", "def f(m): return 1\nx = 2"),
    "an attribute of that name": (
        "import math\ndef f(m): return m.x\nx = 1",
        "import math\ndef f(m): return m.x\nx = 2",
    ),
    "the order of a set": ("x = {'a', 'b', 'c'}\nf = lambda m: x", "x = {'c', 'b', 'a'}\nf = lambda m: x"),
    "the order of attributes": (
        "class A:\n  def __call__(s, m): ...\nf = A()\nf.x = 1\nf.y = 2",
        "class A:\n  def __call__(s, m): ...\nf = A()\nf.y = 2\nf.x = 1",
    ),
}


@pytest.mark.parametrize("case", SAME)
def test_what_does_not_matter(case: str) -> None:
    one, other = SAME[case]
    assert fingerprint(made(one)) == fingerprint(made(other))


def test_recursion() -> None:
    code = "def f(m): return g(m - 1) + h[0](m)\ndef g(m): return f(m) or #\nh = [f, g]\nh.append(h)"
    one, other = (fingerprint(made(code.replace("#", value))) for value in "12")
    assert one == fingerprint(made(code.replace("#", "1"))) != other
    code = "class A:\n  def g(s): return A, B\n  def __call__(s, m): return #\nclass B(A): pass\nf = B()"
    one, other = (fingerprint(made(code.replace("#", value))) for value in "12")
    assert one != other


def test_a_variable_that_is_not_assigned_yet() -> None:
    code = "def g():\n  def f(m): return x\n  before = key(f)\n  x = #\n  return before, key(f)\npair = g()"
    first, second = (made(code.replace("#", value), "pair", key=fingerprint) for value in "12")
    assert len({*first, *second}) == 3
    assert first[0] == second[0]


def test_it_does_not_take_longer_with_every_call_of_a_helper() -> None:
    code = "def f0(m): return m\n" + "".join(
        f"def f{i}(m): return f{i - 1}(f{i - 1}(m)) + f{max(i - 2, 0)}(m)\n" for i in range(1, 60)
    )
    started = time.process_time()
    fingerprint(made(code, "f59"))
    assert time.process_time() - started < 2


def test_it_does_not_depend_on_having_run() -> None:
    f = made("def h(x): return x + 1\ndef f(m):\n  for i in range(m): h(i)\n  return {'b', 'a'}")
    before = fingerprint(f)
    f(10_000)  # so that the interpreter specialises the bytecode
    assert fingerprint(f) == before


# ---------------------------------------------------------------------------
# Modules
# ---------------------------------------------------------------------------


USES = {
    "import": "import mod_a\ndef f(m): return mod_a.go(m)",
    "from import": "from mod_a import go\ndef f(m): return go(m)",
    "in a variable": "import mod_a\ndef g(x):\n  def f(m): return x.go(m)\n  return f\nf = g(mod_a)",
}


@pytest.mark.parametrize("use", USES)
def test_another_text_of_a_module(use: str, modules: Callable[..., Any]) -> None:
    keys = [fingerprint(modules(mod_a=f"def go(m): return {x}", mod_f=USES[use])) for x in (1, 2, 1)]
    assert keys[0] == keys[2] != keys[1]


@pytest.mark.parametrize("how", ["import mod_b\ndef go(m): return mod_b.x", "from mod_b import x\ndef go(m): return x"])
def test_a_module_s_modules(how: str, modules: Callable[..., Any]) -> None:
    keys = [fingerprint(modules(mod_b=f"x = {x}", mod_a=how, mod_f=USES["import"])) for x in (1, 2, 1)]
    assert keys[0] == keys[2] != keys[1]


def test_what_is_assigned_in_a_module(modules: Callable[..., Any]) -> None:
    f = modules(mod_a="level = 1\nclass options:\n  deep = 1\n", mod_f="import mod_a\ndef f(m): return mod_a.level")
    before = fingerprint(f)
    sys.modules["mod_a"].level = 2
    assert fingerprint(f) != before
    sys.modules["mod_a"].level = 1
    assert fingerprint(f) == before
    f = modules(mod_f="import mod_a\ndef f(m): return mod_a.options.deep")
    before = fingerprint(f)
    sys.modules["mod_a"].options.deep = 2
    assert fingerprint(f) != before


def test_installed_packages_are_not_looked_into() -> None:
    import numpy

    f = made("def f(m): return numpy.add(m, tx.passes, json)", numpy=numpy, tx=tx, json=ast)
    before = fingerprint(f)
    assert tx.passes.ttir.rename
    assert fingerprint(f) == before


# ---------------------------------------------------------------------------
# Refused
# ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import threading\nx = threading.Lock()\ndef f(m): x", "the global 'x' of f, which is a _thread.lock"),
        ("def f(m, x=memoryview(b'')): ...", "the default 'x' of f, which is a builtins.memoryview"),
        ("def f(m, *, x=iter(())): ...", "the default 'x' of f, which is a builtins.tuple_iterator"),
        (
            "def g(x):\n  def f(m): x\n  return f\nf = g((n for n in ()))",
            "the variable 'x' of g.<locals>.f, which is a builtins.generator",
        ),
        ("x = [{'a': [open(0, closefd=False)]}]\ndef f(m): x", "the global 'x' of f, which is a _io.TextIOWrapper"),
        (
            "class A:\n  def __call__(s, m): ...\nf = A()\nf.x = memoryview(b'')",
            "which is a builtins.memoryview",
        ),
        ("import threading\nlog = threading.Lock()\ndef h(): log\ndef f(m): h()", "the global 'log' of h"),
        ("import queue\nclass A(queue.Queue): ...\nx = A()\ndef f(m): x", "the global 'x' of f, which is a made.A"),
        ("import threading\nclass A:\n  def __call__(s, m): return x\nx = threading.Lock()\nf = A()", "the global 'x'"),
    ],
)
def test_what_has_no_stable_description_is_refused(code: str, says: str) -> None:
    f = made(code)
    with pytest.raises(tx.PipelineError) as error:
        fingerprint(f)
    assert says in str(error.value)
    assert "give the function an attribute cache_key, a text that changes when it does" in str(error.value)


def test_a_key_of_its_own() -> None:
    f = made("import threading\nx = threading.Lock()\ndef f(m): x")
    f.cache_key = "one"
    one = fingerprint(f)
    f.cache_key = "two"
    assert fingerprint(f) != one
    g = made("def f(m): h()", h=f)
    two = fingerprint(g)
    f.cache_key = "one"
    assert fingerprint(g) != two
    f.cache_key = 1  # no text
    with pytest.raises(tx.PipelineError, match="the cache_key of f has to be a text, found int"):
        fingerprint(f)


def test_functions_with_the_same_key_of_their_own_are_not_the_same() -> None:
    codes = [
        "def f(m): m.one",
        "def f(m): m.two",
        "def g(m): m.one\nf = g",
        "f = lambda m: m.one",
        "f = lambda m: m.two",
    ]
    codes += [f"class {name}:\n  def __call__(s, m): ...\nf = {name}()" for name in "AB"]
    keys = set()
    for code in codes:
        f = made(code)
        f.cache_key = "1"
        keys.add(fingerprint(f))
    assert len(keys) == len(codes)


def test_a_kernel_is_known_by_its_key() -> None:
    keys = {fingerprint(made("def f(m): k", k=k)) for k in (softmax, triton.jit(softmax.fn), squares)}
    assert len(keys) == 2


def test_a_method_that_is_not_called_may_read_anything() -> None:
    code = (
        "import threading\nclass A:\n  def g(s): return x, #\n  def __call__(s, m): ...\nx = threading.Lock()\nf = A()"
    )
    one, other = (fingerprint(made(code.replace("#", value))) for value in "12")
    assert one != other


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "import enum\nclass E(enum.Enum): A = 1\nx = E.A",
        "import typing\nclass T(typing.NamedTuple): A: int = 1\nx = T()",
        "class D(dict): ...\nx = D()",
        "class S(str): ...\nx = S()",
        "import functools\nx = functools.partial(int)",
        "def h(): ...\nx = [h][0]",
    ],
)
def test_what_is_assigned_to_a_value_is_seen_in_the_next_block(code: str, modules: Callable[..., Any]) -> None:
    pipeline = tx.Pipeline().at_end("ttir", modules(mod_f=f"{code}\ndef f(m): x\n"))
    before = key(pipeline)
    assert key(pipeline) == before
    x = sys.modules["mod_f"].x
    owner = type(x) if isinstance(x, tuple | str) else x
    owner.added = 1
    assert key(pipeline) != before
    del owner.added
    assert key(pipeline) == before


def test_using_an_enumeration_changes_nothing() -> None:
    f = made("import enum\nclass E(enum.Flag):\n  A = 1\n  B = 2\nx = E.A\ndef f(m): return ~x, x | E.B")
    before = fingerprint(f)
    f(None)
    assert fingerprint(f) == before


# ---------------------------------------------------------------------------
# Processes
# ---------------------------------------------------------------------------

PROGRAM = """
import sys
from triton_ext.keys.fingerprint import fingerprint
sys.path.insert(0, sys.argv[1])
import subject
print(fingerprint(subject.f), fingerprint(subject.g), fingerprint(subject.h))
"""
SUBJECT = """
import dataclasses, enum, functools, json, re
from pathlib import Path
from triton._C.libtriton import ir, passes
MISSING = object()
NAMES = {"a", "b", "c", "d", "e"}
TABLE = {name: {1, name} for name in "xyz"}
class Mode(enum.Enum):
    A = "a"
    B = "b"
@dataclasses.dataclass
class Options:
    names: frozenset = frozenset(("p", "q", "r"))
    mode: Mode = Mode.B
    more: list = dataclasses.field(default_factory=list)
    def __call__(self, module): return module in {"one", "two", "three"}
def helper(x, *, y=("u", 1.5)): return x in {"k", "l", "m"} and NAMES
@functools.cache
def cached(): return re.compile("x"), TABLE, json, Path
def f(module):
    from collections import OrderedDict
    def inner(): return helper, cached, Options, [lambda: TABLE], ir.builder, passes.common.add_cse, MISSING, ir
    return inner()
g = Options()
h = functools.partial(helper, y=frozenset(("s", "t")))
"""


@pytest.mark.slow
def test_every_process_has_the_same_keys(tmp_path: Path) -> None:
    (tmp_path / "subject.py").write_text(SUBJECT)
    found = set()
    for seed in ("0", "1", "2"):  # the last two read the files that the first one compiled
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
        found.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(found) == 1
    assert len(set(next(iter(found)).split())) == 3


# ---------------------------------------------------------------------------
# In pipelines
# ---------------------------------------------------------------------------


def key(pipeline: tx.Pipeline) -> str:
    with pipeline:
        return str(triton.compile(source(softmax), target=GPUTarget("cuda", 90, 32)).hash)


@pytest.mark.slow
def test_a_changed_variable_compiles_anew(modules: Callable[..., Any]) -> None:
    f = modules(mod_a="level = 1", mod_f="import mod_a\nx = [1]\ndef f(m):\n  mod_a.level, x\n")
    pipeline = tx.Pipeline().at_end("ttir", f)
    keys = [key(pipeline), key(pipeline)]
    sys.modules["mod_a"].level = 2
    keys.append(key(pipeline))
    sys.modules["mod_f"].x.append(2)
    keys.append(key(pipeline))
    sys.modules["mod_f"].x.pop()
    sys.modules["mod_a"].level = 1
    keys.append(key(pipeline))
    assert keys[0] == keys[1] == keys[4]
    assert len(set(keys)) == 3


def test_a_changed_module_variable_is_seen_inside_of_a_block(modules: Callable[..., Any], monkeypatch: Any) -> None:
    f = modules(mod_a="level = 1", mod_f="import mod_a\ndef f(m):\n  mod_a.level\n")
    with tx.Pipeline().at_end("ttir", f):
        hook = triton.knobs.runtime.add_stages_inspection_hook
        before = hook()
        assert hook() == before
        sys.modules["mod_a"].level = 2
        assert hook() != before
    assert stack.current.get() is stack.NOTHING


@pytest.mark.slow
def test_pipelines_that_differ_in_a_function_only() -> None:
    functions = [made(f"def f(m): {x}") for x in (1, 2)]
    functions += [made("def f(m, x=#): ...".replace("#", x)) for x in "12"]
    stages = [lambda s, m, inner: inner(s, m), lambda s, m, inner: inner(s, m) or 1]
    keys = [key(tx.Pipeline().at_end("ttir", f)) for f in functions]
    keys += [key(tx.Pipeline().stage("ptx", f)) for f in stages]
    assert (
        len(set(keys)) == len(keys) - 1
    )  # the first two: values that a function computes and drops are not in its bytecode


def test_only_functions_that_may_change_are_watched() -> None:
    """Each launch looks at the variables of a pipeline's functions, but not at those of triton-ext's own."""

    def own(name: str, code: str = "def f(m): pass") -> Any:
        return made(code, __name__=name)

    assert not Watch([own("triton_ext.somewhere"), own("triton_ext")]).can_change
    assert not Watch([]).can_change
    assert Watch([own("triton_ext.somewhere"), own("triton_extended")]).can_change
    assert Watch([own("triton_ext", "def f(m, x=[]): pass")]).can_change
    assert Watch([own("triton_ext", "def g(x):\n  return lambda m: x\nf = g([])")]).can_change
