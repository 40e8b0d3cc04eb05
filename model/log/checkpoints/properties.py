"""Files of one fact each about a folder: meta.properties, partition.metadata and the mark of a clean shutdown."""

import base64
import json
import uuid
from collections.abc import Mapping
from pathlib import Path

from model.cluster.whole_file import MOST_SETTINGS, read_text, read_whole
from model.log.durable_file import fsync_folder, write_durably
from model.log.errors import DamagedFileError
from model.log.names import CLEAN_SHUTDOWN_FILE, META_PROPERTIES_FILE, PARTITION_METADATA_FILE


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
