# SPDX-License-Identifier: Apache-2.0
"""While a block is active, Inductor compiles in this process and launches as Triton does; afterwards as before.

Whether its kernels are checked then is a trial of benchmarks/gpu/sanitizer_host.py, because it needs a GPU.
"""

from __future__ import annotations

import os
import sys

import pytest

import support
from support import forked_python

LOADED_BEFORE = """
import torch._inductor.config as config
import triton_ext as tx
config.compile_threads = 5
launcher = config.use_static_cuda_launcher
with tx.sanitize("bounds"):
    with tx.sanitize("bounds"):
        pass
    print(config.compile_threads, config.use_static_cuda_launcher)
print(config.compile_threads, config.use_static_cuda_launcher == launcher)
"""
LOADED_INSIDE = """
import os
import triton_ext as tx
with tx.sanitize("bounds"):
    import torch._inductor.config as config
    from torch._inductor.async_compile import get_compile_threads
    print(get_compile_threads(), config.use_static_cuda_launcher)
print(config.compile_threads, config.use_static_cuda_launcher == config.static_cuda_launcher_default())
print(os.environ.get("TORCHINDUCTOR_COMPILE_THREADS"))
"""


def printed(program: str, **variables: str) -> list[str]:
    environment = support.environment(TRITON_DEFAULT_BACKEND="cpu", **variables)
    environment = {name: value for name, value in environment.items() if name in variables or "INDUCTOR" not in name}
    done = forked_python.run([sys.executable, "-c", program], env={**environment})
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_settings_of_a_loaded_inductor() -> None:
    assert printed(LOADED_BEFORE) == ["1 False", "5 True"]


@pytest.mark.slow
@pytest.mark.parametrize("threads", [None, "3"])
def test_settings_of_an_inductor_that_is_loaded_in_the_block(threads: str | None) -> None:
    variables = {} if threads is None else {"TORCHINDUCTOR_COMPILE_THREADS": threads}
    inside, after, variable = printed(LOADED_INSIDE, **variables)
    assert inside == "1 False"
    assert after.endswith(" True")
    assert after.split()[0] == (threads or str(min(32, len(os.sched_getaffinity(0)))))
    assert variable == str(threads)


FOLLOWS = """
import sys
import torch
from triton_ext.support.torch_operators import Following

class Names(Following):
    names = []
    def called(self, operator, args, kwargs):
        self.names.append(str(operator))
        return super().called(operator, args, kwargs)

with Names():
    torch.ones(4) + 1
print(*Names.names, "torch._dynamo" in sys.modules)
import torch._dynamo
compiled = torch.compile(lambda x: (x * 2).sin(), backend="eager")
for turn in range(2):
    Names.names.clear()
    with Names():
        result = compiled(torch.ones(4))
    print(*Names.names, torch.equal(result, torch.full((4,), 2.0).sin()))
"""


@pytest.mark.slow
def test_operators_are_followed_before_and_after_dynamo_is_imported() -> None:
    called = "aten.ones.default aten.mul.Tensor aten.sin.default True"
    assert printed(FOLLOWS) == ["aten.ones.default aten.add.Tensor False", called, called]
