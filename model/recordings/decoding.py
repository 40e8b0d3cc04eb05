"""Rows of a recording → moments. Touches no file."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa

from model.cluster import records as r
from model.recordings.encoding import STATE_FIELDS, TOLD_FIELDS
from model.recordings.format import MOMENT, REBALANCED
from model.recordings.payload import decode_payload
from model.recordings.rebalances import NewRebalances, RebalanceMemory

_Columns = Mapping[str, list[Any]]

_KINDS: Final[Mapping[str, type[r.Record]]] = {kind.__name__: kind for kind in r.Record.__subclasses__()}
_NAMING: Final = ("topic", "broker", "group")


class RowError(Exception):
    """Rows that make no sense; the message says why."""


class RecordedMoment(msgspec.Struct, frozen=True):
    """What was learnt at one moment; `zxid` and `time_ms` are its image's provenance."""

    at_ms: int
    zxid: int
    time_ms: int
    records: tuple[r.Record, ...]


class Decoder:
    """For one set: its files' tables in order."""

    def __init__(self) -> None:
        self._memory = RebalanceMemory()

    def moments(self, table: pa.Table) -> Iterator[RecordedMoment]:
        """All moments of a file. Raises RowError where rows make no sense."""
        try:
            yield from self._moments(table)
        except (msgspec.MsgspecError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise RowError(f"a row makes no sense: {error}"[:200]) from None

    def _moments(self, table: pa.Table) -> Iterator[RecordedMoment]:
        of: _Columns = {name: _values(table.column(name)) for name in table.column_names}
        numbers = table.column("record").to_numpy()
        starts = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
        head, records = None, list[r.Record]()
        for start, end in pairwise([*starts, len(numbers)]):
            if of["kind"][start] != MOMENT:
                records.append(self._record(of, start, end))
                continue
            if head is not None:
                yield _moment(of, head, records)
            head, records = start, []
        if head is not None:
            yield _moment(of, head, records)

    def _record(self, of: _Columns, start: int, end: int) -> r.Record:
        name = of["kind"][start]
        fields: dict[str, Any] = {"zxid": of["zxid"][start], "time_ms": of["time_ms"][start]}
        if name == REBALANCED:
            if (group := of["group"][start]) is None:
                raise ValueError("rebalances of no group")
            new = msgspec.json.decode(of["payload"][start], type=NewRebalances)
            return self._memory.whole(group, new, fields)
        kind = _KINDS[name]
        fields |= {column: of[column][start] for column in _NAMING if of[column][start] is not None}
        fields |= decode_payload(name, of["payload"][start])
        if kind is r.PartitionStatesWritten:
            return r.PartitionStatesWritten(topic=fields["topic"], states=_states(of, start, end))
        if kind is r.PartitionStatesRemoved:
            fields["partitions"] = [number for number in of["partition"][start:end] if number is not None]
        elif kind is r.TopicAssigned:
            fields |= _assigned(of, start, end)
        elif of["partition"][start] is not None:
            fields["partition"] = (fields.pop("topic"), of["partition"][start])
        return msgspec.convert(fields, kind, str_keys=True)


def _values(column: Any) -> list[Any]:
    return [None] * len(column) if column.null_count == len(column) else column.to_pylist()


def _moment(of: _Columns, head: int, records: list[r.Record]) -> RecordedMoment:
    at_ms, zxid, time_ms = (of[name][head] for name in ("at_ms", "zxid", "time_ms"))
    if None in (at_ms, zxid, time_ms):
        raise ValueError("a moment is not whole")
    return RecordedMoment(at_ms, zxid, time_ms, tuple(records))


def _states(of: _Columns, start: int, end: int) -> tuple[r.PartitionState, ...]:
    columns = {name: of[name][start:end] for name in STATE_FIELDS}
    if columns["partition"] == [None]:
        return ()
    if any(None in values for values in columns.values()):
        raise ValueError("a partition's state is not whole")
    columns["isr"] = [tuple(isr) for isr in columns["isr"]]
    payloads: list[str | None] = of["payload"][start:end]
    told = {text: _told(text) for text in set(payloads)}  # few texts, which many rows share
    both = (*(columns[name] for name in STATE_FIELDS), *zip(*(told[text] for text in payloads), strict=True))
    return tuple(map(r.PartitionState, *both))


def _told(payload: str | None) -> tuple[tuple[int, ...] | None, ...]:
    found = {} if payload is None else msgspec.json.decode(payload, type=dict[str, tuple[int, ...]])
    return tuple(found.get(name) for name in TOLD_FIELDS)


def _assigned(of: _Columns, start: int, end: int) -> dict[str, dict[int, list[int]]]:
    numbers = of["partition"][start:end]
    return {
        name: {
            number: brokers for number, brokers in zip(numbers, of[name][start:end], strict=True) if brokers is not None
        }
        for name in ("replicas", "adding", "removing")
    }
