"""Three brokers of ours, a topic on all of them, and one partition of `__consumer_offsets`: one coordinator for all."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.harness.waiting import eventually
from tests.model.hosts.live_broker.broker_process import BrokerProcess
from tests.model.hosts.live_broker.groups.members import PARTITIONS, TOPIC

SETTINGS = """
offsets.topic.replication.factor=3
group.initial.rebalance.delay.ms=500
"""


class ClusterOfThree:
    """Runs while it is entered."""

    def __init__(self, zookeeper: str, folder: Path) -> None:
        self.folder = folder
        self.brokers = {number: BrokerProcess(folder, zookeeper, number, SETTINGS) for number in (1, 2, 3)}
        self._values = itertools.count()

    def __enter__(self) -> Self:
        for broker in self.brokers.values():
            broker.start()
        self.bootstrap = ",".join(broker.ready()["listeners"]["PLAINTEXT"] for broker in self.brokers.values())
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 3)], request_timeout=60)[TOPIC].result(60)
        self._producer = Producer({"bootstrap.servers": self.bootstrap, "acks": "all", "log_level": 0})
        return self

    def __exit__(self, *error: object) -> None:
        for broker in self.brokers.values():
            broker.close()

    def produce(self, count: int) -> Sequence[str]:
        """So many records, acknowledged by all in sync; their values."""
        values = [str(next(self._values)) for _ in range(count)]
        for value in values:
            self._producer.produce(TOPIC, key=value, value=value)
        assert eventually(lambda: self._producer.flush(1) == 0, "all records to be acknowledged")
        return values

    def coordinator(self) -> int:
        """The broker that coordinates all groups, once it is known."""
        return eventually(lambda: self._leader_of_offsets() or None, "a coordinator")

    def kill_coordinator(self) -> int:
        """kill -9; who it was, once somebody else is."""
        killed = self.coordinator()
        self.brokers[killed].close()
        eventually(lambda: self._leader_of_offsets() not in (0, killed), "another coordinator")
        return killed

    def _leader_of_offsets(self) -> int:
        try:
            # Anew each time: a client that heard of no controller asks again only minutes later.
            topics = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0}).list_topics(timeout=10).topics
        except KafkaException:
            return 0
        offsets = topics.get("__consumer_offsets")
        leader = offsets.partitions[0].leader if offsets is not None and offsets.partitions else -1
        return max(leader, 0)
