# SPDX-License-Identifier: Apache-2.0
"""Launches with the same arguments are described once, also where a tensor has changed in place."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from triton_ext.probe import _tokens


def base() -> torch.Tensor:
    return torch.zeros(4, 6)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.t_(),
        lambda x: x.resize_(4, 5),
        lambda x: x.as_strided_((4, 6), (6, 1), 0).untyped_storage().resize_(200),
        lambda x: x.set_(torch.zeros(48).untyped_storage(), 24, (4, 6)),
    ],
)
def test_changes_in_place(change: Callable[[torch.Tensor], Any]) -> None:
    x = base()
    before = _tokens.tokens_of((x, 3))
    assert before == _tokens.tokens_of((x, 3))
    change(x)
    assert before != _tokens.tokens_of((x, 3))


def test_different_arguments() -> None:
    x = base()
    arguments: list[Any] = [x, x[:3], x[1:], x.view(torch.int32), x.view(6, 4), 1, True, 1.0, "1", None, x.data_ptr()]
    tokens = [_tokens.tokens_of((one,)) for one in arguments]
    assert len(set(tokens)) == len(arguments)
    assert _tokens.tokens_of((x.detach(), torch.nn.Parameter(x, requires_grad=False))) == tokens[0] * 2  # type: ignore[operator]


@pytest.mark.parametrize("value", [np.zeros(3), np.int32(1), (1, 2), object()], ids=lambda value: type(value).__name__)
def test_other_arguments_have_none(value: Any) -> None:
    assert _tokens.tokens_of((1, value)) is None


def test_tokens_are_handed_on_to_one_launch_of_the_kernel() -> None:
    kernel, other, tokens = object(), object(), ("handed on",)
    _tokens.hand_on(kernel, tokens)
    assert _tokens.handed_on(other, (1,)) == (1,)
    _tokens.hand_on(kernel, tokens)
    assert _tokens.handed_on(kernel, (1,)) == tokens
    assert _tokens.handed_on(kernel, (1,)) == (1,)


def test_no_tensor_is_kept() -> None:
    x = base()
    tokens, alive = _tokens.tokens_of((x,)), weakref.ref(x)
    assert tokens is not None
    del x
    assert alive() is None
