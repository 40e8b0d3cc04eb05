"""What a broker knows before it is told anything, and Kafka's own numbers."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from model.broker.commands import FetchState
from model.broker.controller_requests import BrokerEpochs
from model.broker.isr import CHECK_INTERVAL_MS, LINGER_MS, MAX_DELAY_MS, IsrChangeNotices
from model.broker.life import BrokerState, ShutdownSettings
from model.broker.partition import FollowerProgress, LogPositions, Partition, ReplicationSettings
from model.broker.quotas import QuotaMeter
from model.broker.replication import FetchAnswer
from model.broker.serving import EpochEnd, FoundOffset, OffsetQuestion, OldQuestion, PartitionFetch
from tests.model.cluster.test_defaults import numbers_of

UNTOLD: dict[type, dict[str, Any]] = {
    FetchState: {"truncating": False, "not_before_ms": 0},
    BrokerEpochs: {"broker_epoch": -1, "controller_epoch": -1, "shutting_down": False},
    IsrChangeNotices: {"changed_ms": 0, "notified_ms": 0},
    FollowerProgress: {
        **{"log_end": -1, "log_start": -1, "leader_end_at_fetch": 0, "fetched_ms": 0, "caught_up_ms": 0},
        "broker_epoch": -1,
    },
    Partition: {"controller_epoch": 0, "high_watermark": 0},
    LogPositions: {"start": 0, "end": 0, "checkpointed_high_watermark": 0},
    FetchAnswer: {"high_watermark": -1, "log_start": -1},
    FoundOffset: {"offset": -1, "timestamp_ms": -1, "leader_epoch": -1},
    EpochEnd: {"leader_epoch": -1, "end_offset": -1},
    PartitionFetch: {"only_leader": True},
    OffsetQuestion: {"only_leader": True},
    OldQuestion: {"only_leader": True},
}


@pytest.mark.parametrize("struct", UNTOLD, ids=lambda struct: struct.__name__)
def test_what_nobody_told_is_unknown(struct: type[msgspec.Struct]) -> None:
    assert numbers_of(struct) == UNTOLD[struct]


def test_settings_have_kafkas_defaults() -> None:
    """`KafkaConfig` (3.9; `replica.lag.max.messages`: 0.8)."""
    assert numbers_of(ReplicationSettings) == {
        "replica_lag_time_max_ms": 30_000, "replica_lag_max_messages": 4_000, "min_insync_replicas": 1,
    }  # fmt: skip
    assert numbers_of(ShutdownSettings) == {
        "controlled_shutdown_enable": True,
        "controlled_shutdown_max_retries": 3,
        "controlled_shutdown_retry_backoff_ms": 5_000,
    }
    assert numbers_of(QuotaMeter) == {"num": 11, "size_ms": 1_000, "current": 0}


def test_changed_isrs_are_told_as_often_as_kafka_does() -> None:
    """`ReplicaManager.IsrChangePropagationInterval` and `IsrChangePropagationBlackOut` (2.6)."""
    assert (CHECK_INTERVAL_MS, LINGER_MS, MAX_DELAY_MS) == (2_500, 5_000, 60_000)


def test_states_have_the_numbers_of_kafkas_metric() -> None:
    """`BrokerState` (3.9)."""
    assert {state.name: state.value for state in BrokerState} == {
        "NOT_RUNNING": 0,
        "STARTING": 1,
        "RECOVERY": 2,
        "RUNNING": 3,
        "PENDING_CONTROLLED_SHUTDOWN": 6,
        "SHUTTING_DOWN": 7,
    }
