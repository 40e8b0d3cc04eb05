"""Looks for canaries in all that a program left: bytes, files, and what is packed in them."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from PIL import Image

from tests.trust.canaries import forms_in

MOST_LEVELS = 4


@dataclass
class Search:
    """What was looked at so far, and what was found there."""

    files: int = 0
    searched_bytes: int = 0
    found: list[str] = field(default_factory=list[str])

    def look(self, name: str, data: bytes) -> None:
        """Into bytes, and into what they are when they are unpacked."""
        for level, (where, each) in enumerate(_layers(name, data)):
            self.searched_bytes += len(each)
            self.found += [f"{where}: {form}" for form in forms_in(each)]
            assert level < 10_000

    def look_into(self, folder: Path, *but: Path) -> None:
        """Into every file below a folder, and into its name; `but`: what the test itself put there."""
        for path in sorted(folder.rglob("*")):
            self.look(f"the name {path}", str(path.relative_to(folder)).encode(errors="surrogateescape"))
            if path.is_file() and not path.is_symlink() and path not in but:
                self.files += 1
                self.look(str(path), path.read_bytes())


def _layers(name: str, data: bytes, level: int = 0) -> Iterator[tuple[str, bytes]]:
    yield name, data
    if level < MOST_LEVELS:
        for part, inside in _unpacked(data):
            yield from _layers(f"{name}!{part}", inside, level + 1)


def _unpacked(data: bytes) -> Iterator[tuple[str, bytes]]:
    """What is packed in whole files; one that is only begun has nothing to unpack yet."""
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        yield "zstd", zstandard.ZstdDecompressor().decompressobj().decompress(data)
    elif data.startswith(b"\x1f\x8b"):
        yield "gzip", gzip.decompress(data)
    elif data.startswith(b"PAR1") and data.endswith(b"PAR1"):
        yield "parquet", _table(pq.read_table(io.BytesIO(data)))  # pyright: ignore[reportUnknownMemberType]
    elif data.startswith(b"ARROW1\0\0") and data.endswith(b"ARROW1"):
        yield "arrow", _table(pa.ipc.open_file(io.BytesIO(data)).read_all())
    elif data.startswith(b"\x89PNG"):
        with Image.open(io.BytesIO(data)) as picture:  # what it says beside its cells, which are drawn of the same text
            picture.load()
            yield from ((str(name), str(told).encode()) for name, told in picture.info.items())
    elif data.startswith(b"PK\x03\x04") and zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield from ((each, archive.read(each)) for each in archive.namelist() if not each.endswith(".class"))
    elif data[257:262] == b"ustar":
        with suppress(tarfile.TarError), tarfile.open(fileobj=io.BytesIO(data)) as archive:
            yield from ((each.name, file.read()) for each in archive if (file := archive.extractfile(each)))


def _table(table: pa.Table) -> bytes:
    return f"{table.schema.metadata}\n{table.to_pylist()}".encode(errors="surrogateescape")
