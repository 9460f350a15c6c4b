# SPDX-License-Identifier: Apache-2.0
"""`op`: turns a declaration into a function that kernels can call."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

from ..keys.builtins import follow_builtins
from ..pipeline.hook import take_slot
from . import dialects
from .declaration import Declaration
from .errors import LanguageError
from .interpreter import is_interpreted
from .values import is_kernel_function


class DslFunction:
    """A function of kernels, made by `op`.

    Attributes:
        declarations: one for each overload, in the order in which they are tried.
    """

    __triton_builtin__ = True  # for Triton, which then passes _semantic and _generator

    def __init__(self, declaration: Declaration) -> None:
        self.__name__: str = declaration.name
        functools.update_wrapper(self, declaration.body)
        self.declarations = [declaration]
        self.__doc__ = declaration.help
        self.__signature__ = declaration.signature
        hidden = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in ("_semantic", "_generator")]
        self.signature = inspect.Signature([*declaration.signature.parameters.values(), *hidden])

    def __repr__(self) -> str:
        return f"<kernel function {self.__name__}>"

    @property
    def cache_key(self) -> str:
        """Its part of the key of a kernel that calls it: the declarations, and the libraries of their dialects."""
        names = [name for declaration in self.declarations for name in declaration.dialects]
        return " ".join([dialects.key(names), *(declaration.key() for declaration in self.declarations)])

    def overload(
        self,
        operation: str | None = None,
        *,
        result: Any = None,
        dtypes: Mapping[str, Any] | None = None,
        interpret: Callable[..., Any] | None = None,
    ) -> Callable[[Any], DslFunction]:
        """Decorator: adds a declaration, which is tried if the earlier ones do not accept the arguments.

        The arguments are those of `op`.
        """
        names = sys._getframe(1).f_locals

        def declare(function: Any) -> DslFunction:
            more = Declaration(
                operation, function, result=result, dtypes=dtypes, interpret=interpret, names=names
            )  # fmt: skip
            self.declarations.append(more)
            self.__doc__ = f"{self.__doc__}\n\n{more.help}"
            return self

        return declare

    def __call__(self, /, *args: Any, _semantic: Any = None, _generator: Any = None, **keywords: Any) -> Any:
        """What a kernel calls.

        Raises:
            LanguageError: the arguments are wrong, or the operation does not verify.
            TritonExtError: the dialect cannot be used.
        """
        interpreted = _semantic is None and is_interpreted((*args, *keywords.values()))
        if _semantic is None and not interpreted:
            raise LanguageError(f"{self.__name__}: can be called in a @triton.jit function only")
        declaration, arguments = self._chosen(args, keywords)
        if interpreted:
            return declaration.run(arguments)
        return declaration.call(arguments, _semantic, _generator)

    def _chosen(self, args: Any, keywords: dict[str, Any]) -> tuple[Declaration, dict[str, Any]]:
        problems = []
        for declaration in self.declarations:
            try:
                return declaration, declaration.bind(args, keywords)
            except LanguageError as error:
                problems.append(error)
        if len(problems) == 1:
            raise problems[0]
        lines = "".join(f"\n  {problem}" for problem in problems)
        raise LanguageError(f"no overload of {self.__name__} accepts these arguments:{lines}")


def op(
    operation: str | None = None,
    *,
    result: Any = None,
    dtypes: Mapping[str, Any] | None = None,
    interpret: Callable[..., Any] | None = None,
    region: bool | str = False,
    end: str | None = None,
) -> Callable[[Any], DslFunction]:
    """Decorator: makes a function that kernels can call, and that builds `operation`.

    Its signature says everything else. Parameters annotated with ``tl.tensor`` are operands, in order; with ``| None``
    an optional one, ``*values`` and ``tuple[tl.tensor, ...]`` variadic ones. Those annotated with ``tl.constexpr`` or
    with one of `attr` are attributes of the same name (an underscore at its end is left out), absent where the value is
    None. The return annotation is None, ``tl.tensor`` for what the operation infers, a type such as ``tl.float32``, or
    a tuple of these. The body is not run; the docstring is what ``help`` shows.

    Above ``@triton.jit`` and without an operation, the kernel calls that function (a macro).

    Args:
        operation: e.g. ``"quant.scale"``.
        result: the result type, unless it is inferred: a parameter's name for the type of that parameter, a type,
            a tuple of types, or a function that returns these and whose parameters are called as those of the
            declaration. A type of your own, with ``_unflatten_ir``, makes values of your own.
        dtypes: the element types that tensors may have, by parameter; others are an error, or go to an overload.
        interpret: a function with the same parameters that takes and returns NumPy arrays, for ``TRITON_INTERPRET=1``.
        region: the function opens a block, ``with scope(...):``, that becomes the region of the operation. A text names
            the operation that ends the region; True means that nothing does (``NoTerminator``).
        end: the function opens a block: the operation is built before it, and the one that is named here behind it,
            with the results of the first as operands.

    Raises:
        LanguageError: the declaration is wrong.
    """
    names = sys._getframe(1).f_locals
    follow_builtins()
    take_slot()  # before the first kernel is compiled, or that one would be without the passes that lower a dialect

    def declare(function: Any) -> DslFunction:
        if not (inspect.isfunction(function) or is_kernel_function(function)):
            raise LanguageError(f"op: expected a function, got {function!r}")
        return DslFunction(
            Declaration(
                operation, function, result=result, dtypes=dtypes, interpret=interpret, region=region, end=end,
                names=names,
            )
        )  # fmt: skip

    return declare
