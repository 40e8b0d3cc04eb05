"""Reading what TopicCommand --describe printed, captured from each release."""

from __future__ import annotations

import pytest

from tests.conformance.kafka.describe import NO_LEADER, PartitionView, parse_describe

PRINTED = {
    "0.8.2.2": (
        "Topic:notes\tPartitionCount:1\tReplicationFactor:1\tConfigs:\n"
        "\tTopic: notes\tPartition: 0\tLeader: -1\tReplicas: 1\tIsr: \n"
        "Topic:payments\tPartitionCount:2\tReplicationFactor:3\tConfigs:\n"
        "\tTopic: payments\tPartition: 0\tLeader: 2\tReplicas: 1,2,3\tIsr: 3,2\n"
    ),
    "3.9.1": (
        "Topic: notes\tTopicId: iKy2ia9GTTG2wb0sF8MtzQ\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n"
        "\tTopic: notes\tPartition: 0\tLeader: none\tReplicas: 1\tIsr: \tElr: N/A\tLastKnownElr: N/A\n"
        "Topic: payments\tTopicId: 5wl-7XzGQ32A06mabZqrmQ\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: \n"
        "\tTopic: payments\tPartition: 0\tLeader: 2\tReplicas: 1,2,3\tIsr: 3,2\tElr: N/A\tLastKnownElr: N/A\n"
    ),
}


@pytest.mark.parametrize("release", PRINTED)
def test_each_release_says_the_same_in_its_own_words(release: str) -> None:
    assert parse_describe(PRINTED[release]) == {
        "notes": {0: PartitionView(NO_LEADER, (1,), frozenset())},
        "payments": {0: PartitionView(2, (1, 2, 3), frozenset({2, 3}))},
    }


def test_other_lines_are_no_partitions() -> None:
    assert parse_describe("[2026-01-01 00:00:00,000] WARN a warning\nTopic: empty\tPartitionCount: 0\n\n") == {}
