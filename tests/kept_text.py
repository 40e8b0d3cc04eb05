"""Texts that are kept to be compared: what a program says of a whole story, line by line.

`KDRILL_UPDATE_SNAPSHOTS=1` writes them anew: read the difference as an operator would.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def assert_kept(file: Path, lines: Iterable[str]) -> None:
    """They are those of the file."""
    text = "".join(f"{line}\n" for line in lines)
    if os.environ.get("KDRILL_UPDATE_SNAPSHOTS") == "1":
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text.splitlines() == file.read_text(encoding="utf-8").splitlines()
