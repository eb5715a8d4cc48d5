# SPDX-License-Identifier: Apache-2.0
"""``python -m warplens`` is the command line."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from warplens import _core


def program() -> str | None:
    """The program that belongs to this package: inside it, in the build folder, or on the path."""
    package = Path(_core.__file__).resolve().parent
    for candidate in (package / "_install/bin/warplens", package.parents[1] / "bin/warplens"):
        if os.access(candidate, os.X_OK):
            return str(candidate)
    return shutil.which("warplens")


def main() -> int:
    """Replaces this process by the program."""
    found = program()
    if found is None:
        print("warplens: error: the program warplens is neither in the package nor on the path", file=sys.stderr)
        return 2
    os.execv(found, ["warplens", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
