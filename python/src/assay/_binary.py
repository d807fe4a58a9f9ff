"""Where the `assay` command is."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path


def find_binary() -> str:
    """The path of the `assay` command: `$ASSAY`, or the one installed with this package, or the first in `PATH`.

    Raises `FileNotFoundError` if there is none.
    """
    if named := os.environ.get("ASSAY"):
        return named
    schemes = [None, f"{os.name}_user"]
    folders = [sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts") for scheme in schemes]
    # `pip install --target FOLDER` puts commands into FOLDER/bin.
    folders.append(str(Path(__file__).resolve().parent.parent / "bin"))
    for folder in folders:
        candidate = Path(folder) / "assay"
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    if found := shutil.which("assay"):
        return found
    raise FileNotFoundError(f"no assay command beside {sys.executable}, nor in PATH; set ASSAY to its path")
