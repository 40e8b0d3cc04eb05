"""Headers of batches as columns: some of them chosen, many put together, and those that were read one by one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from model.log.records import Damage, RecordBatch
from model.log.records.header_columns import HeaderColumns

MANY = 1 << 12
"""Batches that are worth a look of their own: each takes dozens of numpy calls, however few they are."""


def in_bulk(parts: Iterable[HeaderColumns | Damage]) -> Iterator[HeaderColumns | Damage]:
    """The same, with columns that follow each other put together until they are many."""
    held: list[HeaderColumns] = []
    count = 0
    for part in parts:
        is_damage = isinstance(part, Damage)
        if held and (is_damage or count >= MANY):
            yield _joined(held)
            held, count = [], 0
        if is_damage:
            yield part
        else:
            held.append(part)
            count += len(part.position)
    if held:
        yield _joined(held)


def _joined(some: Sequence[HeaderColumns]) -> HeaderColumns:
    if len(some) == 1:
        return some[0]
    return HeaderColumns(*(np.concatenate([getattr(each, field.name) for each in some]) for field in fields(some[0])))


def chosen(columns: HeaderColumns, places: NDArray[np.bool_]) -> HeaderColumns:
    """The headers at these places."""
    return HeaderColumns(*(getattr(columns, field.name)[places] for field in fields(columns)))


def columns_of(batches: Sequence[RecordBatch], crc_valid: Sequence[bool]) -> HeaderColumns:
    """Columns of batches, and of whether the CRC of each holds."""
    names = [field.name for field in fields(HeaderColumns)[:-1]]
    numbers = (np.array([getattr(batch, name) for batch in batches], np.int64) for name in names)
    return HeaderColumns(*numbers, crc_valid=np.array(crc_valid, np.bool_))
