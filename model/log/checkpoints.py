"""Small files beside the segments: checkpoints, meta.properties, partition.metadata, the mark of a clean shutdown.

Files are replaced so that a crash leaves the old or the new content, never a mixture. Checkpoints share a form: a
version, a count, then one entry a line; an offset checkpoint's line is `topic partition offset`. An empty file holds
nothing; any other that is not as written is refused whole.

`org.apache.kafka.server.common.CheckpointFile`, `org.apache.kafka.storage.internals.checkpoint.OffsetCheckpointFile`
(3.9).
"""

import base64
import json
import os
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, TypeVar

from model.cluster.whole_file import MOST_FACTS, MOST_SETTINGS, read_text, read_whole
from model.log.names import CLEAN_SHUTDOWN_FILE, META_PROPERTIES_FILE, PARTITION_METADATA_FILE, DamagedFileError


def fsync_folder(folder: Path) -> None:
    """Makes renames, creations and deletions in `folder` outlast a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_durably(path: Path, data: bytes, *, fsync: bool = True) -> None:
    """Writes `path.tmp` and renames it to `path`, as Kafka's CheckpointFile does.

    Without `fsync` the content outlasts the end of this process, but not that of the machine.
    """
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        if fsync:
            os.fsync(file.fileno())
    temporary.replace(path)
    if fsync:
        fsync_folder(path.parent)


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


TopicPartition = tuple[str, int]


def read_offsets(path: Path) -> dict[TopicPartition, int]:
    """Offset by topic and partition; empty when there is no such file. Raises DamagedFileError."""
    return dict(read_checkpoint(path, _parse))


def write_offsets(path: Path, offsets: Mapping[TopicPartition, int], *, fsync: bool = True) -> None:
    """Replaces the file. Kafka's order of lines is a hash map's; here they are sorted."""
    lines = (f"{topic} {partition} {offset}" for (topic, partition), offset in sorted(offsets.items()))
    write_checkpoint(path, lines, fsync=fsync)


def _parse(words: list[str]) -> tuple[TopicPartition, int]:
    topic, partition, offset = words
    return (topic, whole_number(partition, INT32)), whole_number(offset, INT64)


def read_meta_properties(folder: Path) -> dict[str, str]:
    """The keys of a log folder's meta.properties; empty when there is none, as before 0.9.

    ZooKeeper mode has `version` (0), `broker.id` and from 0.10.1 `cluster.id`; KRaft has `node.id` and `directory.id`.
    Raises DamagedFileError for a line that is no property.
    """
    path = folder / META_PROPERTIES_FILE
    try:
        text = read_text(path, "iso-8859-1", only_file=True)  # Java's properties are
    except FileNotFoundError:
        return {}
    properties: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped[0] in "#!":
            continue
        key, separator, value = stripped.partition("=")
        if not separator:
            raise DamagedFileError(path, f"{stripped[:80]!r} is no key=value", number)
        properties[key.strip()] = value.strip()
    return properties


def write_meta_properties(folder: Path, properties: Mapping[str, str]) -> None:
    """Replaces meta.properties. Kafka puts the date into the second line; it means nothing, and is left out."""
    lines = ["#", *(f"{key}={value}" for key, value in properties.items())]
    write_durably(folder / META_PROPERTIES_FILE, "".join(f"{line}\n" for line in lines).encode("iso-8859-1"))


def read_topic_id(folder: Path) -> uuid.UUID | None:
    """The topic id in a partition folder's partition.metadata (2.8+); None when there is no such file.

    Raises DamagedFileError.
    """
    path = folder / PARTITION_METADATA_FILE
    try:
        lines = read_whole(path, MOST_SETTINGS, only_file=True).decode("ascii", "replace").split("\n")
    except FileNotFoundError:
        return None
    if lines[0] != "version: 0":
        raise DamagedFileError(path, f"the version is {lines[0][:40]!r}, not 'version: 0'", 1)
    key, _, value = (lines[1] if len(lines) > 1 else "").partition(": ")
    try:
        digits = base64.b64decode(value + "==", altchars=b"-_", validate=True)
    except ValueError:  # also binascii.Error
        digits = b""
    if key != "topic_id" or len(digits) != 16:
        raise DamagedFileError(path, "there is no topic id of 22 base64url characters", 2)
    return uuid.UUID(bytes=digits)


def write_topic_id(folder: Path, topic_id: uuid.UUID, *, fsync: bool = True) -> None:
    """Writes partition.metadata: 43 bytes, without a line's end."""
    text = base64.urlsafe_b64encode(topic_id.bytes).rstrip(b"=").decode()
    write_durably(folder / PARTITION_METADATA_FILE, f"version: 0\ntopic_id: {text}".encode(), fsync=fsync)


def mark_clean_shutdown(folder: Path, broker_epoch: int = -1) -> None:
    """Says that everything in this log folder is on disk. The last act of an orderly stop."""
    mark = json.dumps({"version": 0, "brokerEpoch": broker_epoch}, separators=(",", ":"))
    write_durably(folder / CLEAN_SHUTDOWN_FILE, mark.encode())


def take_clean_shutdown_mark(folder: Path) -> bool:
    """Whether the last stop was orderly; the mark is gone afterwards. Its content has no bearing on the answer."""
    path = folder / CLEAN_SHUTDOWN_FILE
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    fsync_folder(folder)
    return True
