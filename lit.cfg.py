# SPDX-License-Identifier: Apache-2.0
"""lit's configuration for the whole repository: tests lie in test/ beside the extension that they test."""

import os
import sys
from pathlib import Path

import lit.formats

from triton_ext.host import find_triton

root = Path(__file__).parent
config.name = "triton-ext"  # noqa: F821 (lit provides config)
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir", ".ttir", ".ttgir"]  # noqa: F821
config.excludes = ["build", "dist", ".venv", "fixtures", "Inputs"]  # noqa: F821
config.test_source_root = str(root)  # noqa: F821
config.test_exec_root = str(root / "build" / "lit")  # noqa: F821
# The tools of this environment, and the FileCheck that ships with Triton.
path = [str(Path(sys.executable).parent), str(find_triton().root), os.environ.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(path)  # noqa: F821
for name in ("HOME", "TRITON_EXT_LIBRARY_DIR", "TRITON_EXT_PATH", "XDG_CACHE_HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]  # noqa: F821
