# SPDX-License-Identifier: Apache-2.0
"""The ways in which an expression can take part in a pass: code that defines `f`, with ``#`` in place of the
expression."""

from __future__ import annotations

SHAPES = {
    "a helper": "def h(): return #\ndef f(m): return h()",
    "a helper's helper": "def g(): return #\ndef h(): return g()\ndef f(m): return h()",
    "a cached helper": "import functools\n@functools.cache\ndef h(): return #\ndef f(m): return h()",
    "a function within": "def f(m):\n  def h(): return #\n  return h()",
    "a lambda within a lambda": "f = lambda m: (lambda: (lambda: #)())()",
    "a callable object": "class A:\n  def __call__(s, m): return #\nf = A()",
    "a method": "class A:\n  def g(s): return #\n  def __call__(s, m): return s.g()\nf = A()",
    "a method by its name": "class A:\n  def g(s): return #\n  def __call__(s, m): getattr(s, 'g')()\nf = A()",
    "a method's method": (
        "class A:\n  def g(s): return #\n  def h(s): return s.g()\n  def __call__(s, m): return s.h()\nf = A()"
    ),
    "a method of a base": "class B:\n  def g(s): return #\nclass A(B):\n  def __call__(s, m): s.g()\nf = A()",
    "a static method": "class A:\n  @staticmethod\n  def g(): return #\ndef f(m): return A.g()",
    "a class method": "class A:\n  @classmethod\n  def g(c): return #\ndef f(m): return A.g()",
    "a property": "class A:\n  @property\n  def g(s): return #\na = A()\ndef f(m): return a.g",
    "a constructor": "class A:\n  def __init__(s): s.x = #\ndef f(m): return A().x",
    "an operator": "class A:\n  def __len__(s): return #\na = A()\ndef f(m): return len(a)",
    "a bound method": "class A:\n  def g(s, m): return #\nf = A().g",
    "a method of an object in a set": "class A:\n  def g(s): return #\nL = {A()}\ndef f(m): [x.g() for x in L]",
    "a decorator of a library": (
        "import contextlib\n@contextlib.contextmanager\ndef g(): yield #\ndef f(m):\n  with g() as x: return x"
    ),
    "a method by a name that is put together": (
        "class A:\n  def on_g(s): return #\n  def __call__(s, m): return getattr(s, f'on_{s.k}')()\nf = A()\nf.k = 'g'"
    ),
    "a method of vars": "class A:\n  def g(s): return #\ndef f(m): return [x(m) for x in vars(A).values()]",
    "a method by methodcaller": (
        "from operator import methodcaller\nclass A:\n  def on_g(s): return #\na, k = A(), 'on_' + 'g'\n"
        "def f(m): return methodcaller(k)(a)"
    ),
    "a method that a library calls": (
        "import json\nclass A(json.JSONEncoder):\n  def default(s, o): return #\ndef f(m): return json.dumps(m, cls=A)"
    ),
    "a method of a base that a library calls": (
        "import json\nclass B:\n  def default(s, o): return #\nclass A(B, json.JSONEncoder): ...\n"
        "def f(m): return A().encode(m)"
    ),
    "a property in a pattern": (
        "class A:\n  __match_args__ = ('g',)\n  @property\n  def g(s): return #\na = A()\n"
        "def f(m):\n  match a:\n    case A(x): return x"
    ),
    "a metaclass's method": "class M(type):\n  def g(c): return #\nclass A(metaclass=M): ...\ndef f(m): return A.g()",
    "an attribute of a metaclass": (
        "class M(type):\n  def __getattr__(c, n): return #\nclass A(metaclass=M): ...\na = A()\n"
        "def f(m): return type(a).n + A.n"
    ),
    "a method of an enumerator": (
        "import enum\nclass A(enum.Enum):\n  X = 1\n  def g(s): return #\na = A.X\ndef f(m): return a.g()"
    ),
    "a method of a number that is an enumerator": (
        "import enum\nclass A(enum.IntEnum):\n  X = 1\n  def g(s): return #\ndef f(m, a=A.X): return a.g()"
    ),
    "what an enumeration lacks": (
        "import enum\nclass A(enum.Enum):\n  X = 1\n  @classmethod\n  def _missing_(c, v): return #\n"
        "a = A.X\ndef f(m): return type(a)(2)"
    ),
    "a method of a named tuple": (
        "import typing\nclass A(typing.NamedTuple):\n  x: int = 1\n  def g(s): return #\na = A()\n"
        "def f(m): return a.g()"
    ),
    "what a dict lacks": "class A(dict):\n  def __missing__(s, k): return #\na = A()\ndef f(m): return a[1]",
    "a default factory": ("import collections\na = collections.defaultdict(lambda: #)\ndef f(m): return a[1]"),
    "a method of a function's attribute": (
        "class A:\n  def g(s): return #\ndef h(): ...\nh.a = A()\nL = [h]\ndef f(m): return L[0].a.g()"
    ),
    **{
        f"a method of a subclass of {kind}": (
            f"import collections, datetime, functools, pathlib, types, numpy\nclass A({kind}):\n  def g(s): return #\n"
            f"a = {value}\ndef f(m): return a.g()"
        )
        for kind, value in {
            "int": "A(1)",
            "str": "A('a')",
            "list": "A()",
            "collections.OrderedDict": "A(a=1)",
            "datetime.date": "A(2026, 1, 1)",
            "types.SimpleNamespace": "A(a=1)",
            "functools.partial": "A(int)",
            "pathlib.PurePosixPath": "A('a')",
            "numpy.ndarray": "numpy.zeros(2).view(A)",
        }.items()
    },
}
