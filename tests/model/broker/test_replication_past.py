"""Accidents of Kafka's past, as short as they get: the rules of then lose or change a record, those of later do not.

Each was found among random histories and shortened step by step. Broker 1 leads first; `expire 3`: the controller sees
the session of broker 3 end; `fetch 2`: broker 2 asks its leader, `deliver 2`: the answer arrives.
"""

from __future__ import annotations

import msgspec
import pytest

from model.broker.partition import ReplicationRules, ReplicationSettings, replication_rules_of
from tests.model.broker.histories import Step, play

CUT_AT_THE_HIGH_WATERMARK = """
obey 2, obey 1, produce 1, expire 3, fetch 2, fetch 2, deliver 2, fetch 2, obey 2, obey 1, fetch 2
"""
"""KIP-101: broker 2 has what was acknowledged, its high watermark lags: in the next leader epoch it cuts that off."""

FETCHED_FROM_THE_PAST = """
obey 1, obey 3, elect 2, fetch 3, produce 1, obey 2, fetch 3, deliver 3, obey 1, obey 2, fetch 1, expire 2, obey 1,
produce 1, fetch 3
"""
"""KIP-320: broker 3 has missed two elections; its leader leads again, and takes an old offset for a new one."""

JOINED_BELOW_THE_EPOCH = """
expire 3, obey 2, expire 1, register 1, obey 1, obey 2, obey 2, fetch 1, fetch 1, answer ISR 2, produce 2, register 3,
fetch 1, deliver 1, fetch 1, obey 3, elect 1, obey 1, obey 3, fetch 3, fetch 3, answer ISR 1
"""
"""KAFKA-7128: the new leader's high watermark lags, so that broker 3 joins without a record that was acknowledged."""

OF_2_1 = replication_rules_of("2.1")


def steps(text: str) -> list[Step]:
    words = [each.strip().rpartition(" ") for each in text.replace("\n", " ").split(",")]
    return [(kind, int(broker)) for kind, _, broker in words]


@pytest.mark.parametrize(
    ("history", "then", "later"),
    [
        pytest.param(
            CUT_AT_THE_HIGH_WATERMARK, replication_rules_of("0.10.2"), replication_rules_of("0.11"), id="KIP-101"
        ),
        pytest.param(
            FETCHED_FROM_THE_PAST,
            msgspec.structs.replace(OF_2_1, leader_epochs_are_checked=False),
            OF_2_1,
            id="KIP-320",
        ),
        pytest.param(
            JOINED_BELOW_THE_EPOCH,
            msgspec.structs.replace(OF_2_1, joins_after_epoch_start=False),
            OF_2_1,
            id="KAFKA-7128",
        ),
    ],
)
def test_a_record_was_lost_then_and_is_not_later(history: str, then: ReplicationRules, later: ReplicationRules) -> None:
    with pytest.raises(AssertionError, match=r"in-sync replica (lacks|has another)|diverge"):
        play(steps(history), ReplicationSettings(rules=then))
    play(steps(history), ReplicationSettings(rules=later))


def test_the_last_releases_survive_all_of_them() -> None:
    for history in (CUT_AT_THE_HIGH_WATERMARK, FETCHED_FROM_THE_PAST, JOINED_BELOW_THE_EPOCH):
        for release in ("2.1", "2.7", "3.9"):
            play(steps(history), ReplicationSettings(rules=replication_rules_of(release)))
