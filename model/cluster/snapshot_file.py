"""Reads and writes snapshot files: JSON, or JSON in zstd. Says in one line what is wrong with a file that it refuses.

Files are recognised by their content and written by their name's end. What the document means is `snapshot_format`'s.
"""

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.finding import Finding
from model.cluster.snapshot_format import FORMAT, SnapshotDocument
from model.cluster.snapshot_image import document_of, image_of
from model.cluster.snapshot_refusal import refusal
from model.cluster.snapshot_unknown import with_unknown

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_FAMILY = "kdrill.snapshot/"


class SnapshotError(Exception):
    """A snapshot file that cannot be read or written; the message is one line that names the file and the way out."""


def read_snapshot(path: Path) -> ClusterImage:
    """The image in a snapshot file. Raises SnapshotError."""
    data = _content(path)
    _check_format(path, data)
    try:
        return image_of(msgspec.json.decode(data, type=SnapshotDocument))
    except msgspec.ValidationError:
        raise SnapshotError(f"{path}: {refusal(msgspec.json.decode(data), SnapshotDocument)}") from None


def read_document(path: Path) -> dict[str, Any]:
    """The whole document of a snapshot file, with what this version of kdrill does not know. Raises SnapshotError."""
    read_snapshot(path)
    return msgspec.json.decode(_content(path))


def write_snapshot(
    path: Path, image: ClusterImage, findings: Iterable[Finding] = (), kept: Mapping[str, Any] | None = None
) -> None:
    """Writes `FILE.json` or `FILE.json.zst`, whole or not at all. Raises SnapshotError.

    `kept` is the document (`read_document`) that the image came from: what it holds beyond the format is written too.
    """
    if not path.name.endswith((".json", ".json.zst")):
        raise SnapshotError(f"{path}: a snapshot's name ends in .json or .json.zst")
    document = document_of(image, findings)
    whole = document if kept is None else with_unknown(msgspec.to_builtins(document, str_keys=True), kept)
    data = msgspec.json.encode(whole)
    if path.suffix == ".zst":
        data = zstandard.ZstdCompressor(write_checksum=True).compress(data)
    try:
        _write_whole(path, data)
    except OSError as error:
        raise SnapshotError(f"{path}: cannot be written: {error.strerror or error}") from None


def _write_whole(path: Path, data: bytes) -> None:
    """Beside the file first, under another name, so that the file is the old one or the new one at any moment."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def _content(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise SnapshotError(f"{path}: no such file") from None
    except OSError as error:
        raise SnapshotError(f"{path}: cannot be read: {error.strerror or error}") from None
    if not data:
        raise SnapshotError(f"{path}: the file is empty")
    if data.startswith(_ZSTD_MAGIC):
        return _decompressed(path, data)
    if _ZSTD_MAGIC.startswith(data):
        raise SnapshotError(f"{path}: the file is cut off; take the snapshot again")
    return data


def _decompressed(path: Path, data: bytes) -> bytes:
    stream = zstandard.ZstdDecompressor().decompressobj()
    try:
        content = stream.decompress(data)
    except zstandard.ZstdError:
        raise SnapshotError(f"{path}: the file is damaged (zstd); take the snapshot again") from None
    if not stream.eof:
        raise SnapshotError(f"{path}: the file is cut off; take the snapshot again")
    return content


class _Envelope(msgspec.Struct):
    format: object = None


def _check_format(path: Path, data: bytes) -> None:
    try:
        found = msgspec.json.decode(data, type=_Envelope).format
    except msgspec.ValidationError:
        found = None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if "truncated" in str(error):
            raise SnapshotError(f"{path}: the file is cut off; take the snapshot again") from None
        raise SnapshotError(f"{path}: not a kdrill snapshot: it is not JSON") from None
    if found == FORMAT:
        return
    if isinstance(found, str) and found.startswith(_FAMILY):
        raise SnapshotError(f"{path}: {found[:60]}: this kdrill reads /1; upgrade kdrill")
    if isinstance(found, str) and found.startswith("kdrill."):
        raise SnapshotError(f"{path}: this is {found[:60]}, not a snapshot ({FORMAT})")
    raise SnapshotError(f"{path}: not a kdrill snapshot: its format is not {FORMAT}")
