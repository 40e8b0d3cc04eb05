"""Consumers that nobody here wrote, in groups that our brokers coordinate: members and the coordinator are killed."""

from __future__ import annotations

import pytest

from tests.harness.host_processes import ClusterOfThree
from tests.model.hosts.live_broker.groups.members import RealGroup

pytestmark = [pytest.mark.timeout(420), pytest.mark.thorough]


def test_groups_stay_balanced_while_members_and_their_coordinator_are_killed(three: ClusterOfThree) -> None:
    values = list(three.produce(60))
    groups = {
        "rdkafka": RealGroup("rdkafka", three.bootstrap, three.folder),
        "python": RealGroup("python", three.bootstrap, three.folder),
        "mixed": RealGroup("mixed", three.bootstrap, three.folder),
        "cooperative": RealGroup("cooperative", three.bootstrap, three.folder, "cooperative-sticky"),
    }
    try:
        groups["rdkafka"].start("librdkafka", "librdkafka")
        groups["python"].start("kafka-python", "kafka-python")
        groups["mixed"].start("librdkafka", "kafka-python")
        groups["cooperative"].start("librdkafka", "librdkafka")
        for group in groups.values():
            group.await_balance()
            group.await_read(values)
        for group in groups.values():
            group.kill_one()
        for group in groups.values():
            group.await_balance()
        groups["rdkafka"].start("librdkafka", "librdkafka")
        groups["python"].start("kafka-python")
        groups["mixed"].start("librdkafka")
        groups["cooperative"].start("librdkafka")
        killed = three.kill_coordinator()
        values += three.produce(60)
        for group in groups.values():
            group.await_balance()
            group.await_read(values)
        three.brokers[killed].start()
        three.brokers[killed].ready()
        values += three.produce(60)
        for group in groups.values():
            group.await_balance()
            group.await_read(values)
    finally:
        for group in groups.values():
            group.close()
