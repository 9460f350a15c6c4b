# SPDX-License-Identifier: Apache-2.0
"""Feeds mutations of valid modules to the driver; test_fuzz.py runs this program.

The driver runs each input in a separate process, so a thousand inputs need only one Python.
"""

from __future__ import annotations

import json
import os
import random
import re
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from triton_ext import driver

SECONDS = 5  # of CPU time, for one input; the slowest one that ends takes a tenth of that
PIPELINES = {
    ".ttir": (
        [],
        ["-canonicalize", "-cse"],
        ["-triton-combine", "-triton-licm", "-triton-loop-unroll"],
        ["-convert-triton-to-tritongpu=target=cuda:80 num-warps=4", "-tritongpu-coalesce"],
    ),
    ".ttgir": (
        [],
        ["-canonicalize", "-cse"],
        ["-tritongpu-remove-layout-conversions", "-tritongpu-pipeline", "-tritongpu-reorder-instructions"],
        ["-allocate-shared-memory", "-convert-triton-gpu-to-llvm"],
    ),
}
_TOKEN = re.compile(r"\s+|[\w.%#@!$\"]+|.")
_NUMBERS = ("0", "1", "2", "3", "16", "64", "4096", "100000", "-1", "9223372036854775807")


def delete_lines(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    for _ in range(rng.randint(1, 3)):
        lines.pop(rng.randrange(len(lines)))
    return "".join(lines)


def swap_tokens(text: str, rng: random.Random) -> str:
    tokens = _TOKEN.findall(text)
    for _ in range(rng.randint(1, 4)):
        a, b = rng.sample([i for i, token in enumerate(tokens) if not token.isspace()], 2)
        tokens[a], tokens[b] = tokens[b], tokens[a]
    return "".join(tokens)


def truncate(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text))]


def replace_characters(text: str, rng: random.Random) -> str:
    characters = list(text)
    for _ in range(rng.randint(1, 5)):
        characters[rng.randrange(len(text))] = rng.choice('()<>{}[],:=%#0189-x "i\0\xff')
    return "".join(characters)


def change_numbers(text: str, rng: random.Random) -> str:
    return _replace(text, r"(?<![\w%])\d+\b", lambda _: rng.choice(_NUMBERS), rng)


def change_operands(text: str, rng: random.Random) -> str:
    operands = re.findall(r"%\w+", text)
    return _replace(text, r"%\w+", lambda _: rng.choice(operands), rng)


def _replace(text: str, pattern: str, by: object, rng: random.Random) -> str:
    """Returns `text` with one or two matches of `pattern` replaced."""
    matches = list(re.finditer(pattern, text))
    for match in sorted(rng.sample(matches, rng.randint(1, 2)), key=lambda m: -m.start()):
        text = text[: match.start()] + by(match) + text[match.end() :]  # type: ignore[operator]
    return text


MUTATORS = (delete_lines, swap_tokens, truncate, replace_characters, change_numbers, change_operands)


@contextmanager
def standard_error_in(path: Path) -> Iterator[None]:
    """Redirects standard error of this process and its children to the file `path`."""
    saved = os.dup(2)
    target = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.dup2(target, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(target)


def main(directory: Path, seed: int, count: int, inputs: list[Path]) -> None:
    """Prints a JSON line for each input: the input, the exit code, and the output of the driver."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS * 2))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    rng = random.Random(seed)
    texts = {path: path.read_text() for path in inputs}
    for number in range(count):
        source = rng.choice(inputs)
        mutator = MUTATORS[number % len(MUTATORS)]
        module = directory / f"{seed}_{number}{source.suffix}"
        module.write_bytes(mutator(texts[source], rng).encode("latin-1", "replace"))
        output, errors = module.with_suffix(".out"), module.with_suffix(".err")
        arguments = [str(module), *rng.choice(PIPELINES[source.suffix]), "-o", str(output)]
        begin = time.monotonic()
        with standard_error_in(errors):
            try:
                driver.main(arguments)
            except SystemExit as exit_:
                code = exit_.code
        result = {
            "module": str(module),
            "arguments": arguments[1:-2],
            "mutator": mutator.__name__,
            "code": code,
            "output": output.exists(),
            "said": errors.read_text(errors="replace"),
            "seconds": time.monotonic() - begin,
        }
        output.unlink(missing_ok=True)
        print(json.dumps(result))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), [Path(p) for p in sys.argv[4:]])
