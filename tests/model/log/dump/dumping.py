"""Dumps of files, taken apart: what is printed, and what is told besides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from model.log.dump.dump_file import dump_file
from model.log.dump.facts import DumpOptions, Remark, file_name
from model.log.records import Damage

DEEP = DumpOptions(deep=True, contents=True)
JSON = DumpOptions(deep=True, contents=True, json=True)


def dump(path: Path | str, options: DumpOptions = DEEP) -> tuple[bytes, list[Damage], list[Remark]]:
    """What is printed for a file, its damage and the remarks."""
    name = file_name(Path(path).name)
    assert name is not None
    parts = list(dump_file(str(path), name, options))
    return (
        b"".join(part for part in parts if isinstance(part, bytes)),
        [part for part in parts if isinstance(part, Damage)],
        [part for part in parts if isinstance(part, Remark)],
    )


def lines(path: Path, options: DumpOptions = DEEP) -> list[str]:
    """The printed lines after the one that names the file."""
    return dump(path, options)[0].decode().splitlines()[1:]


def json_lines(path: Path, options: DumpOptions = JSON) -> list[dict[str, Any]]:
    """The objects."""
    return [json.loads(line) for line in dump(path, options)[0].splitlines()]
