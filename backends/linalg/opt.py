# SPDX-License-Identifier: Apache-2.0
"""``triton-linalg-opt``: ``triton-ext-opt`` with the dialects and the pass of the linalg layer loaded."""

from __future__ import annotations

import sys

from triton_ext import driver

#: The extension that is always loaded, together with the dialects that it uses.
EXTENSION = "triton_to_linalg"


def main() -> None:
    """Entry point of the console script."""
    driver.main([*sys.argv[1:], f"--load-extension={EXTENSION}"], program="triton-linalg-opt")


if __name__ == "__main__":
    main()
