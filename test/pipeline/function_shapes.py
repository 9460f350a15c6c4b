# SPDX-License-Identifier: Apache-2.0
"""How an expression can be part of what a pass does: code that defines `f`, with ``#`` where the expression stands."""

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
}
