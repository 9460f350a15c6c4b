# SPDX-License-Identifier: Apache-2.0
"""lit's configuration for the whole repository: tests lie in test/ beside the extension that they test."""

import os
import sys
from pathlib import Path

from triton_ext.testing import configure_lit

sys.path.insert(0, str(Path(__file__).parent / "test"))

from support import forked_programs

configure_lit(config, Path(__file__).parent)  # noqa: F821 (lit provides config)
config.test_format = forked_programs.ShTest(execute_external=False)  # noqa: F821
# The active bug of the libraries of `support.mutants`.
config.environment["TRITON_EXT_MUTANT"] = os.environ.get("TRITON_EXT_MUTANT", "")  # noqa: F821
