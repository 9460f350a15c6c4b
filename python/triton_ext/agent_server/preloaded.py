# SPDX-License-Identifier: Apache-2.0
"""What the fork server imports: everything that most actions need, and nothing that starts threads or opens a GPU."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os

# Ends without the end of the interpreter, at which libtriton prints what is still alive. What is registered first runs
# last.
atexit.register(os._exit, 0)

# The default of Triton 3.9, which warns if the variable is not set.
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
with contextlib.suppress(Exception):  # torch may be missing or broken; the actions that need it say so
    import torch

    torch.testing.assert_close(torch.zeros(1), torch.zeros(1))  # imports what compares tensors
with contextlib.suppress(Exception):
    from . import compiling, documentation, history, measuring, reading  # noqa: F401
with contextlib.suppress(Exception):
    from triton.runtime.cache import triton_key

    triton_key()  # hashes Triton's files, which takes a second, once for all actions
gc.freeze()  # the children share these pages as long as nobody writes to them
