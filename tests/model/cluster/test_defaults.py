"""What a source does not tell is told as unknown, and by the same number everywhere."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from model.cluster import records
from model.cluster.change import Change
from model.cluster.cluster_image import BrokerImage, ControllerImage, Provenance
from model.cluster.findings.check import Finding
from model.cluster.image_parts import KraftMetadata, LogDir, Member, Quorum, QuorumReplica, Rebalance
from model.cluster.records import ClusterRecord
from model.cluster.snapshot_format import (
    BrokerDocument,
    ControllerDocument,
    LogDirDocument,
    PartitionDocument,
    RebalanceDocument,
    SnapshotDocument,
)

UNTOLD: dict[type, dict[str, Any]] = {
    BrokerImage: {"registered_ms": 0},
    ControllerImage: {"since_ms": 0},
    Provenance: {"zxid": -1, "time_ms": 0, "complete": False, "asks_brokers": True},
    Change: {"time_ms": 0, "zxid": -1, "count": 1},
    Finding: {"since_ms": 0},
    Member: {"joined_ms": 0},
    Rebalance: {"generations": 1},
    QuorumReplica: {"log_end_offset": -1, "lag_records": -1, "caught_up_ms": -1},
    Quorum: {"high_watermark": -1},
    LogDir: {"total_bytes": -1, "usable_bytes": -1},
    KraftMetadata: {"next_producer_id": -1},
    ControllerDocument: {"since_ms": 0},
    BrokerDocument: {"registered_ms": 0},
    PartitionDocument: {"leader": -1, "leader_epoch": -1, "controller_epoch": -1, "version": 0},
    RebalanceDocument: {"generations": 1},
    LogDirDocument: {"total_bytes": -1, "usable_bytes": -1},
    SnapshotDocument: {"taken_at_ms": 0, "zxid": -1, "complete": True},
    records.PartitionState: {
        "controller_epoch": 0, "version": 0, "recovering": False, "zxid": -1, "time_ms": 0,
    },
    records.BrokerRegistered: {"registered_ms": 0, "registration_version": 1, "zxid": -1, "time_ms": 0},
    records.BrokerFenced: {"registered_ms": 0, "zxid": -1, "time_ms": 0},
    records.ControllerElected: {"since_ms": 0, "zxid": -1, "time_ms": 0},
    records.MemberJoined: {"joined_ms": 0, "zxid": -1, "time_ms": 0},
}  # fmt: skip
"""Transactions, offsets, bytes and epochs that nobody told are -1, times 0."""


def numbers_of(struct: type[msgspec.Struct]) -> dict[str, Any]:
    return {
        field.name: field.default for field in msgspec.structs.fields(struct) if isinstance(field.default, int | float)
    }


@pytest.mark.parametrize("struct", UNTOLD, ids=lambda struct: struct.__name__)
def test_what_nobody_tells_of_a_part_is_unknown(struct: type[msgspec.Struct]) -> None:
    assert numbers_of(struct) == UNTOLD[struct]


def test_a_record_of_which_no_more_is_known_has_no_transaction_and_no_time() -> None:
    for kind in {*ClusterRecord.__subclasses__()} - UNTOLD.keys():
        assert numbers_of(kind) == {"zxid": -1, "time_ms": 0}, kind
