"""Files of real Kafka log folders, and what Kafka's DumpLogSegments printed for each (tests/data/segments)."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ARCHIVE = Path(__file__).parent / "data/segments/segments.tar.xz"
HOWS = ("print", "shallow", "dump", "sanity", "verify")


@dataclass(frozen=True)
class Printed:
    """What the tool printed for a file, and whether it was content with it."""

    path: str
    """Relative to the folder that the corpus is in; the tool's text names it so."""
    how: str
    text: bytes
    complaint: str
    """Its exit code and standard error; empty if there was nothing."""


def unpack(folder: Path) -> Path:
    """The folder, with all files in it."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


def printed(folder: Path) -> Iterator[Printed]:
    """Every text of the tool in an unpacked corpus."""
    for text in sorted(folder.rglob("*.txt")):
        name, how = text.name.removesuffix(".txt").rsplit(".", 1)
        if how in HOWS:
            complaint = text.with_suffix(".stderr")
            said = complaint.read_text() if complaint.exists() else ""
            yield Printed(str(text.with_name(name).relative_to(folder)), how, text.read_bytes(), said)


def logs(folder: Path, *under: str) -> list[Path]:
    """The .log files, of all or some of the corpus's folders."""
    return sorted(path for part in under or ("",) for path in (folder / part).rglob("*.log"))
