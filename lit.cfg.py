# SPDX-License-Identifier: Apache-2.0
"""lit's configuration for the whole repository: tests lie in test/ beside the extension that they test."""

import os
from pathlib import Path

from triton_ext.testing import configure_lit

configure_lit(config, Path(__file__).parent)  # noqa: F821 (lit provides config)
# The active bug of the libraries of `support.mutants`.
config.environment["TRITON_EXT_MUTANT"] = os.environ.get("TRITON_EXT_MUTANT", "")  # noqa: F821
