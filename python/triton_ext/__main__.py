# SPDX-License-Identifier: Apache-2.0
"""``python -m triton_ext``: the command line without an installed script."""

from .cli import main

main()
