"""Reads and writes snapshot files: JSON, or JSON in zstd. Says in one line what is wrong with a file that it refuses.

Files are recognised by their content and written by their name's end. What the document means is `snapshot_format`'s.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.check import Finding
from model.cluster.snapshot_format import FORMAT, SnapshotDocument, refusal, with_unknown
from model.cluster.snapshot_image import document_of, image_of
from model.cluster.texts import visible_json
from model.cluster.whole_file import MOST_FACTS, read_whole, write_whole

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_FAMILY = "kdrill.snapshot/"

_SLICE = 1 << 10
"""Compressed bytes that are looked at at once: no zstd makes more than some MiB of them."""


class SnapshotError(Exception):
    """A snapshot file that cannot be read or written; the message is one line that names the file and the way out."""


def read_snapshot(path: Path, raw: bytes | None = None) -> ClusterImage:
    """The image in a snapshot file, whose bytes may have been read already. Raises SnapshotError."""
    data = _content(path, raw)
    _check_format(path, data)
    try:
        document = msgspec.json.decode(data, type=SnapshotDocument)
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors
        raise SnapshotError(f"{path}: {refusal(_any_json(path, data), SnapshotDocument)}") from None
    return image_of(document)


def read_document(path: Path, raw: bytes | None = None) -> dict[str, Any]:
    """The whole document of a snapshot file, with what this version of kdrill does not know. Raises SnapshotError.

    `raw`: as in `read_snapshot`.
    """
    raw = read_raw(path) if raw is None else raw
    read_snapshot(path, raw)
    return _any_json(path, _content(path, raw))


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
    data = visible_json(msgspec.json.encode(whole))
    if path.suffix == ".zst":
        data = zstandard.ZstdCompressor(write_checksum=True).compress(data)
    try:
        write_whole(path, data)
    except OSError as error:
        raise SnapshotError(f"{path}: cannot be written: {error.strerror or error}") from None


def read_raw(path: Path) -> bytes:
    """A file's bytes. Raises SnapshotError."""
    try:
        return read_whole(path, MOST_FACTS)
    except FileNotFoundError:
        raise SnapshotError(f"{path}: no such file") from None
    except OSError as error:
        raise SnapshotError(f"{path}: cannot be read: {error.strerror or error}") from None


def _content(path: Path, raw: bytes | None = None) -> bytes:
    data = read_raw(path) if raw is None else raw
    if not data:
        raise SnapshotError(f"{path}: the file is empty")
    if data.startswith(_ZSTD_MAGIC):
        return _decompressed(path, data)
    if _ZSTD_MAGIC.startswith(data):
        raise SnapshotError(f"{path}: the file is cut off; take the snapshot again")
    return data


def _decompressed(path: Path, data: bytes) -> bytes:
    """The size is counted before anything is kept: what a frame says of it proves nothing."""
    stream, size = zstandard.ZstdDecompressor().decompressobj(), 0
    try:
        for start in range(0, len(data), _SLICE):
            size += len(stream.decompress(data[start : start + _SLICE]))
            if size > MOST_FACTS:
                raise SnapshotError(f"{path}: holds more than {MOST_FACTS:,} bytes of JSON; no snapshot is that large")
            if stream.eof:
                return zstandard.ZstdDecompressor().decompressobj().decompress(data)
    except zstandard.ZstdError:
        raise SnapshotError(f"{path}: the file is damaged (zstd); take the snapshot again") from None
    raise SnapshotError(f"{path}: the file is cut off; take the snapshot again")


def _any_json(path: Path, data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (ValueError, RecursionError) as error:
        raise SnapshotError(f"{path}: cannot be used: {error}; take the snapshot again") from None


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
