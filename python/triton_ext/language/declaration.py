# SPDX-License-Identifier: Apache-2.0
"""One declaration: how a call becomes an operation, or a call of a ``@triton.jit`` function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import triton.language as tl

from ..keys.fingerprint import fingerprint
from ..patches.with_statements import follow_with_statements
from ..support.shown import shown
from . import dialects, given, interpreter, library
from .blocks import Call, Pair, Region, handles_of
from .errors import LanguageError
from .parameters import Inferred, Kind, Parameter, parameters_of, resolved, returned
from .types import as_types, inferred, texts_of, wrapped
from .values import constant, type_of


class Declaration:
    """A function that a kernel calls, as it was declared; the arguments are those of `op`.

    Raises:
        LanguageError: the declaration is wrong.
    """

    def __init__(
        self,
        operation: str | None,
        function: Any,
        *,
        result: Any = None,
        dtypes: Mapping[str, Any] | None = None,
        interpret: Callable[..., Any] | None = None,
        region: bool | str = False,
        end: str | None = None,
        names: Mapping[str, object] | None = None,
    ) -> None:
        self.operation = operation
        self.function = function
        self.is_macro = not inspect.isfunction(function)
        self.body = function.fn if self.is_macro else function
        self.name = self.body.__name__
        self.signature = inspect.signature(self.body)
        self.interpret = interpret
        self.region = bool(region)
        if region:
            follow_with_statements()
        self.terminator = region if isinstance(region, str) else ""
        self.end = end
        self._check_operation()
        self.parameters: list[Parameter] = []
        self._returns: Any = Inferred()
        if not self.is_macro:
            signature = resolved(self.body, self.name, names or {})
            self.parameters = parameters_of(signature, self.name)
            self._returns = returned(signature.return_annotation, self.name) if result is None else result
        self._dtypes = {name: _as_tuple(types) for name, types in (dtypes or {}).items()}
        if unknown := self._dtypes.keys() - self.signature.parameters.keys():
            raise LanguageError(f"{self.name}: dtypes= names '{sorted(unknown)[0]}', which is not a parameter")
        self._result = result

    def _check_operation(self) -> None:
        if self.is_macro:
            if self.operation is not None:
                raise LanguageError(f"{self.name}: a @triton.jit function is the body of op() without an operation")
            return
        if not self.operation:
            raise LanguageError(f"{self.name}: expected an operation, e.g. @tx.language.op('quant.{self.name}')")
        for operation in filter(None, (self.operation, self.terminator, self.end)):
            dialect, point, name = operation.partition(".")
            if not (dialect and point and name):
                raise LanguageError(f"{self.name}: expected an operation such as 'quant.scale', got {shown(operation)}")

    @property
    def dialects(self) -> list[str]:
        """The dialects whose operations it builds."""
        names = [name.partition(".")[0] for name in (self.operation, self.terminator, self.end) if name]
        return list(dict.fromkeys(names))

    def __str__(self) -> str:
        bare = (one.replace(annotation=inspect.Parameter.empty) for one in self.signature.parameters.values())
        return f"{self.name}{inspect.Signature(list(bare))}"

    @property
    def help(self) -> str:
        """Returns the signature as it was written, and the docstring."""
        written = [one.replace(annotation=_Bare(one.annotation)) for one in self.signature.parameters.values()]
        text = inspect.Signature(written, return_annotation=_Bare(self.signature.return_annotation))
        return f"{self.name}{text}\n\n{inspect.getdoc(self.body) or ''}".strip()

    def key(self) -> str:
        """Returns a text that changes whenever the declaration would translate a call differently."""
        if self.is_macro:
            return f"{self.name} {self.function.cache_key}"
        parts: list[Any] = [self.operation, str(self.signature), self.region, self.terminator, self.end]
        parts += ((p.name, p.kind.value, p.attr.name, p.attr.key, _own(p.cls)) for p in self.parameters)
        parts += ((name, [str(dtype) for dtype in types]) for name, types in self._dtypes.items())
        defaults = [p.default for p in self.signature.parameters.values() if p.default is not inspect.Parameter.empty]
        result = self._result if callable(self._result) else repr(self._returns)
        return fingerprint((repr(defaults), *parts, result), lenient=True)

    def bind(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the arguments of a call by parameter, with defaults.

        Raises:
            LanguageError: they do not fit the parameters, or a type is not among those of ``dtypes``.
        """
        try:
            bound = self.signature.bind(*args, **keywords)
        except TypeError as error:
            raise LanguageError(f"{self}: {error}") from None
        bound.apply_defaults()
        for name, types in self._dtypes.items():
            values = bound.arguments[name]
            for value in values if isinstance(values, tuple) else (values,):
                dtype = getattr(getattr(value, "type", None), "scalar", None)
                if isinstance(value, tl.tensor) and dtype not in types:
                    wanted = ", ".join(map(str, types))
                    raise LanguageError(f"{self}: '{name}' has elements of type {dtype}, expected {wanted}")
        return bound.arguments

    def call(self, arguments: dict[str, Any], semantic: Any, generator: Any) -> Any:
        """Builds the operation, or calls the function, for a call in a kernel; returns the value of the call.

        Raises:
            LanguageError: the arguments are wrong, or the operation does not verify.
            TritonExtError: the dialect cannot be used.
        """
        if self.is_macro:
            return generator.call_JitFunction(self.function, *self._positional(arguments))
        is_block = self.region or self.end is not None
        if is_block and generator is not None:  # which with statements do not pass
            raise LanguageError(f"{self}: opens a block", fix=f"with {self.name}(...):")
        if not is_block and generator is None:
            raise LanguageError(f"{self}: does not open a block", fix=f"{self.name}(...) without with")
        operands = self._operands(arguments, semantic)
        attributes = list(self._attributes(arguments, operands))
        groups = [len(handles_of(own)) for own in operands.values()]
        call = Call([value for own in operands.values() for value in own], groups, attributes, arguments)
        if self.region:
            return Region(self, semantic, call)
        return self.build(semantic, call) if self.end is None else Pair(self, semantic, call)

    def run(self, arguments: dict[str, Any]) -> Any:
        """Evaluates a call under Triton's interpreter."""
        if self.is_macro:
            args, keywords = self._positional(arguments)
            return self.function(*args, **keywords)
        if self.interpret is None:
            raise LanguageError(
                f"{self}: has no NumPy implementation, which TRITON_INTERPRET=1 asks for",
                fix=f"@tx.language.op('{self.operation}', interpret=function)",
            )
        given.check(self, self.parameters, arguments)
        types = self._types(arguments) if callable(self._returns) else None
        try:
            return interpreter.run(self.interpret, self.signature, arguments, types)
        except ValueError as error:  # as what MLIR says of a wrong operation
            raise LanguageError(f"{self}: {error}") from error

    def build(self, semantic: Any, call: Call) -> Any:
        """Builds the operation and returns its results as the declaration says."""
        assert self.operation is not None
        types = self._types(call.arguments)
        texts, sizes = texts_of(types[0], semantic.builder) if types is not None else (None, [])
        description = library.Description(self.operation, call.attributes, texts, call.groups, sizes)
        results = self.built(semantic.builder, description, handles_of(call.operands))
        if types is not None:
            values, several = wrapped(results, types[0]), types[1]
        else:
            expected = self._returns.count
            if expected is not None and expected != len(results):
                raise LanguageError(
                    f"{self}: '{self.operation}' has {len(results)} results, the declaration {expected}"
                )
            values = wrapped(results, [inferred(handle, call.operands) for handle in results])
            several = self._returns.several
        return tuple(values) if several or len(values) > 1 else values[0] if values else None

    def built(self, builder: Any, description: library.Description, handles: Sequence[Any]) -> list[Any]:
        """Returns the results of the operation, built; see `library.build`.

        Raises:
            LanguageError: MLIR says what is wrong with it.
            TritonExtError: the context does not have the dialect.
        """
        try:
            return library.build(builder, description, handles)
        except ValueError as error:
            dialect = description.operation.partition(".")[0]
            if str(error) == f"no dialect '{dialect}' in this context":
                raise dialects.missing(dialect) from None
            raise LanguageError(f"{self}: {error}") from None

    def _positional(self, arguments: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        args: list[Any] = []
        keywords: dict[str, Any] = {}
        for name, parameter in self.signature.parameters.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                args += arguments[name]
            elif parameter.kind is parameter.KEYWORD_ONLY:
                keywords[name] = arguments[name]
            else:
                args.append(arguments[name])
        return args, keywords

    def _operands(self, arguments: Mapping[str, Any], semantic: Any) -> dict[str, list[Any]]:
        """Returns the values that are operands, by parameter."""
        operands = {}
        for parameter in self.parameters:
            if parameter.kind is Kind.ATTRIBUTE:
                continue
            values = given.values_of(self, parameter, arguments[parameter.name])
            operands[parameter.name] = [given.operand(self, parameter, one, semantic) for one in values]
        return operands

    def _attributes(self, arguments: Mapping[str, Any], operands: Mapping[str, list[Any]]) -> Any:
        for parameter in self.parameters:
            if parameter.kind is not Kind.ATTRIBUTE:
                continue
            value = constant(arguments[parameter.name])
            if value is None and parameter.attr.derive is not None:
                value = parameter.attr.derive(operands)
            text = given.attribute(self, parameter, value)
            if text is not None:
                yield parameter.name.removesuffix("_"), text

    def _types(self, arguments: Mapping[str, Any]) -> tuple[list[Any], bool] | None:
        """Returns the result types, and whether the result is a tuple; None if the operation infers them."""
        if isinstance(self._returns, Inferred):
            return None
        types = self._returns
        if isinstance(types, str):
            if types not in arguments:
                raise LanguageError(f"{self}: result={types!r} is not a parameter")
            return [type_of(arguments[types], self)], False
        if callable(types) and not isinstance(types, tl.core.base_type):
            names = inspect.signature(types).parameters
            try:
                types = types(**{name: constant(arguments[name]) for name in names})
            except KeyError as error:
                raise LanguageError(f"{self}: result= asks for {error}, which is not a parameter") from None
        return as_types(types, str(self))


def _own(cls: type) -> object:
    """Returns the user's class itself, whose ``_flatten_ir`` decides what a value becomes; the name of Triton's."""
    return cls.__qualname__ if cls.__module__.partition(".")[0] == "triton" else cls


class _Bare:
    """An annotation that is shown as it was written."""

    def __new__(cls, annotation: Any) -> Any:
        """Returns an annotation as it is if it is not a text."""
        return super().__new__(cls) if isinstance(annotation, str) else annotation

    def __init__(self, annotation: str) -> None:
        self._text = annotation

    def __repr__(self) -> str:
        return self._text


def _as_tuple(types: Any) -> tuple[Any, ...]:
    return (types,) if isinstance(types, tl.dtype) else tuple(types)
