"""The form that Kafka's checkpoint files share: a version, a count, then one entry a line.

`org.apache.kafka.server.common.CheckpointFile` (3.9). An empty file holds nothing; anything else that is not as
written refuses the whole file.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, TypeVar

from model.cluster.whole_file import MOST_FACTS, read_whole
from model.log.durable_file import write_durably
from model.log.errors import DamagedFileError

VERSION = 0
INT32, INT64 = 32, 64
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,19}")

Entry = TypeVar("Entry")


def whole_number(text: str, bits: int) -> int:
    """As Java's `parseInt` (INT32) and `parseLong` (INT64). Raises ValueError."""
    if _NUMBER.fullmatch(text) is None or not -(1 << bits - 1) <= int(text) < 1 << bits - 1:
        raise ValueError(f"{text[:40]!r} is no number of {bits} bits")
    return int(text)


def encode_checkpoint(lines: Iterable[str]) -> bytes:
    """The content of a file with these entries."""
    entries = list(lines)
    return "".join(f"{line}\n" for line in (VERSION, len(entries), *entries)).encode()


def read_checkpoint(path: Path, parse: Callable[[list[str]], Entry]) -> list[Entry]:
    """The entries of a file, each parsed from its words; none when there is no such file.

    `parse` raises ValueError for words that are no entry. Raises DamagedFileError naming the line.
    """
    try:
        text = read_whole(path, MOST_FACTS, only_file=True).decode()
    except FileNotFoundError:
        return []
    except UnicodeDecodeError as error:
        raise DamagedFileError(path, f"byte {error.start} is not UTF-8") from None
    if not text:
        return []
    lines = text.removesuffix("\n").split("\n")
    if lines[0].strip() != str(VERSION):
        raise DamagedFileError(path, f"the version is {lines[0][:40]!r}, not {VERSION}", 1)
    try:
        promised = whole_number(lines[1].strip(), INT32)
    except (IndexError, ValueError):
        raise DamagedFileError(path, "the number of entries is missing", 2) from None
    entries = [_entry(path, number, line, parse) for number, line in enumerate(lines[2:], 3)]
    if len(entries) != promised:
        raise DamagedFileError(path, f"{promised} entries are promised, {len(entries)} are there", 2)
    return entries


def write_checkpoint(path: Path, lines: Iterable[str], *, fsync: bool = True) -> None:
    """Replaces the file by one with these entries."""
    write_durably(path, encode_checkpoint(lines), fsync=fsync)


def _entry(path: Path, number: int, line: str, parse: Callable[[list[str]], Entry]) -> Entry:
    try:
        return parse(line.split())
    except ValueError:
        raise DamagedFileError(path, f"{line[:80]!r} is no entry", number) from None
