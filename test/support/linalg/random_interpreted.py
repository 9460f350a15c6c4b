# SPDX-License-Identifier: Apache-2.0
"""What Triton's interpreter makes of random kernels.

The kernels access memory around their pointers in any way. The interpreter says from which element to which, so that
the memory of other launches can end there.

``TRITON_INTERPRET=1 python test/support/linalg/random_interpreted.py BEGIN END KERNELS FILE`` runs the kernels of the
module `KERNELS` in the interpreter, and writes what they do to `FILE`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from support import modules
from support.linalg.random_launches import MARGIN, POINTERS, Done, Launch, draw, equal_bits
from support.linalg.watched import LeavesError, Watched

#: What an atomic returns in the lanes that its mask leaves out is not defined. The interpreter runs once with each.
UNDEFINED = (0.0, 1000.0)
#: Launches that are tried until one stays within the margins: indices may be in memory that the kernel writes.
TRIES = 5


def _rounded(value: np.ndarray, source: tl.dtype, target: tl.dtype, mode: object) -> np.ndarray:
    """A cast of floats. The interpreter cuts off the bits that bf16 has not; compilers round to the nearest number."""
    if (source, target) == (tl.float32, tl.bfloat16):
        return torch.from_numpy(value.copy()).bfloat16().view(torch.int16).numpy().view(np.uint16)
    return _convert_float(value, source, target, mode)


_convert_float: Any = interpreter._convert_float


def _tanh(value: tl.tensor) -> tl.tensor:
    """The function of libdevice that the kernels call."""
    return tl.tensor(interpreter.TensorHandle(np.tanh(value.handle.data), value.dtype), value.type)


def _interpret(kernel: Any, launch: Launch, undefined: float) -> tuple[dict[str, torch.Tensor], Watched]:
    memory, functions = launch.memory(), interpreter._interpreter
    watched = Watched(functions, memory, undefined)
    interpreter._interpreter = watched
    try:
        kernel[(launch.grid,)](*(memory[name][MARGIN:] for name in POINTERS), *launch.scalars)
    finally:
        interpreter._interpreter = functions
    return memory, watched


def interpreted(kernel: Any, seed: int) -> Done | str:
    """Returns what a launch of the kernel does, or why the interpreter cannot say so."""
    for attempt in range(TRIES):
        launch = draw(seed, attempt)
        try:
            (memory, first), (other, second) = (_interpret(kernel, launch, undefined) for undefined in UNDEFINED)
        except LeavesError:
            continue
        except Exception as error:  # of any kind: the interpreter is not ours
            return f"{type(error).__name__}: {str(error).splitlines()[-1]}"
        accessed = {
            name: (min(one[0] for one in both), max(one[1] for one in both)) if both else (MARGIN, MARGIN)
            for name in POINTERS
            for both in [[seen.accessed[name] for seen in (first, second) if name in seen.accessed]]
        }
        found = {name: memory[name][slice(*accessed[name])].clone() for name in POINTERS}
        defined = {name: equal_bits(found[name], other[name][slice(*accessed[name])]) for name in POINTERS}
        inside = {name: (low - MARGIN, high - MARGIN) for name, (low, high) in accessed.items()}
        return Done(launch, inside, found, defined)
    return f"{TRIES} launches leave their memory"


def main(begin: str, end: str, kernels: str, file: str) -> None:
    """Writes what the kernels from the first to before the second number do."""
    module = modules.imported(Path(kernels))
    # Kernels print, but not to where the process that started this one waits for its output.
    interpreter.InterpreterBuilder.create_print = lambda *_: None
    interpreter._convert_float = _rounded
    module.libdevice.tanh = _tanh
    seeds = range(int(begin), int(end))
    torch.save({seed: interpreted(getattr(module, f"random_{seed}"), seed) for seed in seeds}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
