"""Facts become rows and facts again, of every kind."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.cluster.cluster_image import Provenance
from model.cluster.image_parts import Rebalance
from model.cluster.records import ClusterRecord, GroupRebalancesSeen, PartitionState, PartitionStatesWritten
from model.recordings.format import SCHEMA
from model.recordings.playback import Encoder, RecordedMoment, RowError, SetDecoder
from tests.model.cluster.strategies import RECORDS, histories

whens = st.lists(st.tuples(st.integers(0, 2**40), histories), max_size=3)


def written(encoder: Encoder, told: list[tuple[int, list[Any]]]) -> pa.Table:
    for at_ms, records in told:
        encoder.moment(at_ms, Provenance("zk://a", at_ms + 1, at_ms, complete=True), records)
    return encoder.table()


def read(*tables: pa.Table) -> list[RecordedMoment]:
    decoder = SetDecoder()
    return [moment for table in tables for moment in decoder.moments(table)]


@settings(max_examples=50)
@given(whens)
def test_what_is_written_is_read(told: list[tuple[int, list[Any]]]) -> None:
    expected = [RecordedMoment(at_ms, at_ms + 1, at_ms, tuple(records)) for at_ms, records in told]
    assert read(written(Encoder(), told)) == expected


@settings(max_examples=50)
@given(whens, whens)
def test_a_set_of_two_files_is_read_as_one(
    first: list[tuple[int, list[Any]]], then: list[tuple[int, list[Any]]]
) -> None:
    encoder = Encoder()
    tables = [written(encoder, first)]
    encoder.forget_rows()
    tables.append(written(encoder, then))
    assert read(*tables) == read(written(Encoder(), [*first, *then]))


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
@settings(max_examples=10)
@given(st.data())
def test_every_kind_of_fact(kind: type[ClusterRecord], data: st.DataObject) -> None:
    record = data.draw(RECORDS[kind])
    (moment,) = read(written(Encoder(), [(5, [record])]))
    assert moment.records == (record,)


def test_a_partition_state_has_a_row_with_columns_to_ask() -> None:
    states = (PartitionState(4, 1, 7, (1, 2), zxid=9, time_ms=8), PartitionState(5, -1, 7, ()))
    rows = written(Encoder(), [(10, [PartitionStatesWritten(topic="orders", states=states)])]).to_pylist()
    assert [row["kind"] for row in rows] == ["Moment", "PartitionStatesWritten", "PartitionStatesWritten"]
    about = ("at_ms", "topic", "partition", "leader", "leader_epoch", "isr", "zxid", "time_ms", "record")
    assert [tuple(row[name] for name in about) for row in rows[1:]] == [
        (10, "orders", 4, 1, 7, [1, 2], 9, 8, 1),
        (10, "orders", 5, -1, 7, [], -1, 0, 1),
    ]


def test_eligible_leaders_are_told_beside_the_columns_that_older_releases_read() -> None:
    states = (
        PartitionState(0, -1, 7, (), elr=(4,), last_known_elr=(4,)),
        PartitionState(1, 1, 7, (1,), elr=(), last_known_elr=()),
        PartitionState(2, 1, 7, (1,)),
    )
    table = written(Encoder(), [(10, [PartitionStatesWritten(topic="orders", states=states)])])
    told = ['{"elr":[4],"last_known_elr":[4]}', '{"elr":[],"last_known_elr":[]}', None]
    assert [row["payload"] for row in table.to_pylist()[1:]] == told
    (moment,) = read(table)
    assert moment.records == (PartitionStatesWritten(topic="orders", states=states),)


def test_a_past_that_goes_on_is_not_written_again() -> None:
    encoder, past = Encoder(), tuple(_rebalance(number) for number in range(20))
    records = [
        GroupRebalancesSeen(group="g", kind="classic", rebalances=each) for each in (past, (*past[1:], _rebalance(20)))
    ]
    table = written(encoder, [(5, records)])
    first, second = (len(row["payload"]) for row in table.to_pylist()[1:])
    assert second * 10 < first
    assert read(table)[0].records == tuple(records)


def _rebalance(at_ms: int) -> Rebalance:
    return Rebalance(at_ms, ("c1 left",), 5)


@pytest.mark.parametrize(
    "row",
    [
        {"kind": "NoSuchFact"},
        {"kind": "LogEndsRead", "payload": "{"},
        {"kind": "LogEndsRead", "payload": '{"ends":3}'},
        {"kind": "PartitionStatesWritten", "topic": "t", "partition": 1},
        {"kind": "BrokerLost"},
        {"kind": "GroupRebalanced", "group": "g", "payload": "{}"},
        {"kind": "GroupRebalanced", "group": None, "payload": '{"kind":"classic","dropped":0,"kept":0,"added":[]}'},
        {"kind": "LogEndsRead", "payload": "[" * 100_000},
        {"kind": "PartitionStatesWritten", "topic": "t", "partition": 1, "isr": [1]},
        {"kind": "GenerationRecognised", "payload": '{"generation":"4.x"}'},
        {"kind": "Moment", "time_ms": None},
        {"kind": "Moment", "at_ms": None},
        {"kind": "Moment", "zxid": None},
    ],
)
def test_rows_that_make_no_sense_are_refused(row: dict[str, Any]) -> None:
    moment = {"record": 0, "at_ms": 1, "kind": "Moment", "zxid": 1, "time_ms": 1}
    table = pa.Table.from_pylist([moment, {"record": 1, "at_ms": 1, "zxid": -1, "time_ms": 0, **row}], schema=SCHEMA)
    with pytest.raises(RowError, match="a row makes no sense"):
        read(table)
