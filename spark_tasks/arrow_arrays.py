"""Arrays ⇄ one Arrow file, which many processes map into their memory and share. It copies nothing when it reads.

The file has one row: a column of lists for each array. Types that Arrow packs otherwise or does not know (booleans,
fixed-width text, times) are stored as bytes. Shape and type stand beside the column.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from model.analyses.analysis import Arrays

Source = str | os.PathLike[str]
_arrow: Any = pa  # whose stubs leave the types of values open


def write(path: Source, arrays: Arrays, *, narrow: bool = False) -> None:
    """Write the file, in place of one that is there. Raises OSError; ValueError for an array of Python objects.

    `narrow`: whole numbers as narrow as they are, so that reading copies them."""
    part = f"{os.fspath(path)}.part"
    with pa.OSFile(part, "wb") as sink:
        _write(sink, arrays, narrow=narrow)
    os.replace(part, path)


def open(path: Source) -> Arrays:
    """The file's arrays, which can't be written to. They stay valid when the file is removed. Raises OSError."""
    return _read(pa.memory_map(os.fspath(path)), os.fspath(path))


def encode(arrays: Arrays) -> bytes:
    """As `write` does, narrow, into memory: each byte is copied from process to process."""
    sink = pa.BufferOutputStream()
    _write(sink, arrays, narrow=True)
    return sink.getvalue().to_pybytes()


def decode(data: bytes) -> Arrays:
    """What `encode` made."""
    return _read(pa.BufferReader(data), "the message")


LEAST_FILE_BYTES = 1 << 20


def handed_over(arrays: Arrays, folder: str) -> bytes:
    """As `encode`, or the name of a new file in the folder where they are many and both sides see it: what is sent
    goes through Java, which takes more processor time than to make it took. No folder: nothing goes by file."""
    if folder and sum(array.nbytes for array in arrays.values()) >= LEAST_FILE_BYTES:
        path = os.path.join(folder, f"{uuid4().hex}.arrow")
        with suppress(OSError):  # the disk is full
            write(path, arrays, narrow=True)
            return os.fsencode(path)
    return encode(arrays)


def taken_over(data: bytes) -> Arrays:
    """What `handed_over` was given; its file need not stay."""
    return decode(data) if data.startswith(_MAGIC) else open(os.fsdecode(data))


_MAGIC = b"ARROW1"


def packed_batches(batches: Sequence[Arrays]) -> bytes:
    """Several batches as one message."""
    return msgspec.msgpack.encode([encode(batch) for batch in batches])


def unpacked_batches(data: bytes) -> list[Arrays]:
    """What `packed_batches` made."""
    return [decode(batch) for batch in msgspec.msgpack.decode(data, type=list[bytes])]


def _write(sink: Any, arrays: Arrays, *, narrow: bool = False) -> None:
    fields: list[pa.Field[Any]] = []
    columns: list[Any] = []
    for name, array in arrays.items():
        flat = _flat(name, array)
        values = pa.array(_narrowed(flat) if narrow and array.dtype == np.int64 else flat)
        columns.append(_arrow.LargeListArray.from_arrays(pa.array([0, len(values)], pa.int64()), values))
        shape = ",".join(map(str, array.shape))
        fields.append(pa.field(name, columns[-1].type, metadata={"dtype": array.dtype.str, "shape": shape}))
    schema = pa.schema(fields)
    with _arrow.ipc.new_file(sink, schema) as writer:
        writer.write_batch(_arrow.record_batch(columns, schema=schema))


def _read(source: Any, name: str) -> Arrays:
    try:
        batch = _arrow.ipc.open_file(source).get_batch(0)
    except pa.ArrowInvalid as error:
        raise OSError(f"{name}: no file of arrays: {error}") from error
    return {field.name: _array(field, batch.column(place)) for place, field in enumerate(batch.schema)}


def _flat(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.hasobject:
        raise ValueError(f"{name}: an array of Python objects can't be written")
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat if array.dtype.isnative and array.dtype.kind in "iuf" else flat.view(np.uint8)


_NARROW = (np.uint8, np.uint16, np.uint32)


def _narrowed(flat: NDArray[np.int64]) -> NDArray[Any]:
    least, most = (int(flat.min()), int(flat.max())) if len(flat) else (0, 0)
    fits = (kind for kind in _NARROW if least >= 0 and most <= np.iinfo(kind).max)
    return flat.astype(next(fits, np.int64), copy=False)


def _array(field: Any, column: Any) -> NDArray[Any]:
    shape = tuple(int(length) for length in field.metadata[b"shape"].decode().split(",") if length)
    flat, kind = column.values.to_numpy(zero_copy_only=True), np.dtype(field.metadata[b"dtype"].decode())
    was_narrowed = kind == np.int64 and flat.dtype in _NARROW
    return (flat.astype(kind) if was_narrowed else flat.view(kind)).reshape(shape)
