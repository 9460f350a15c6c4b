# SPDX-License-Identifier: Apache-2.0
"""Follows the operators that torch calls, without importing ``torch._dynamo``. Importing this module imports torch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode


class Following(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A block in which `called` is called for each operator of this thread.

    Torch wraps `__torch_dispatch__`, so that ``torch.compile`` does not compile it. The first call of the wrapper
    imports ``torch._dynamo``, which takes 1.7 s of processor time. Claim: the wrapper is needed only if something else
    has imported ``torch._dynamo``, because only that compiles functions. So it is called from then on.
    """

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Is what torch calls."""
        return self.called(func, args, kwargs or {})

    def called(self, operator: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Calls an operator of torch and returns its result; a subclass does more."""
        return operator(*args, **kwargs)


_wrapper: Callable[..., Any] = Following.__torch_dispatch__


def _dispatch(
    self: Following, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
) -> Any:
    if "torch._dynamo" not in sys.modules:
        return self.called(func, args, kwargs or {})
    Following.__torch_dispatch__ = _wrapper  # type: ignore[method-assign]
    return _wrapper(self, func, types, args, kwargs)


Following.__torch_dispatch__ = _dispatch  # type: ignore[method-assign]
