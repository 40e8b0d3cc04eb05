"""Parts of a file as JSON lines (kdrill.dump-log/1): what file it is, its entries and its damage, how many there were.

Lines are ASCII: whatever a file holds is harmless on a terminal.
"""

import json
from collections.abc import Iterable, Iterator

import msgspec

from model.log.dump.facts import Fact
from model.log.dump.kinds import FileName
from model.log.dump.parts import Part, Remark
from model.log.records import Damage

FORMAT = "kdrill.dump-log/1"


def json_lines(parts: Iterable[Fact | Damage | Remark], path: str, name: FileName, size: int) -> Iterator[Part]:
    """A line for each part, between one that says what file it is and one that says that nothing is missing.

    Damage and remarks come as lines and as themselves.
    """
    yield _line(
        {
            "kind": "file",
            "format": FORMAT,
            "path": path,
            "type": name.kind,
            "base_offset": name.base_offset,
            "size": size,
        }
    )
    entries = damaged = 0
    for part in parts:
        match part:
            case Damage():
                damaged += 1
                about = {"position": part.position, "size": part.size, "damage": part.kind, "cause": part.cause}
                yield _line({"kind": "damage", **about})
                yield part
            case Remark():
                yield _line({"kind": "remark", "position": part.position, "text": part.text})
                yield part
            case _:
                entries += 1
                yield _line(msgspec.to_builtins(part))
    yield _line({"kind": "end", "entries": entries, "damaged": damaged})


def _line(fields: dict[str, object]) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"
