"""How a reassignment stands, as brokers tell it; a question that they refuse is not an answer."""

from __future__ import annotations

from typing import Any

import pytest
from kafka import errors
from kafka.structs import TopicPartition as Named

from model.actions.proposal import ActionRefused
from model.actions.reassignment import PartitionNow, WantedReads
from model.cluster.ids import TopicPartition
from model.hosts.acting.admin_reads import AdminReads
from model.hosts.acting.admin_writes import BrokersRoute
from model.hosts.acting.carrying_out import Writers

ORDERS = TopicPartition("orders", 0)
WANTED = WantedReads((ORDERS, TopicPartition("gone", 0)))


class Client:
    """Answers as kafka-python's admin client does while orders-0 moves from (1, 2) to (2, 3)."""

    def __init__(self, refusal: Exception | None = None) -> None:
        self.refusal = refusal

    def describe_topics(self, _topics: list[str]) -> list[dict[str, Any]]:
        partition = {"partition_index": 0, "replica_nodes": [2, 3, 1], "isr_nodes": [1, 2]}
        return [{"name": "orders", "error_code": 0, "partitions": [partition]}]

    def describe_cluster(self) -> dict[str, Any]:
        return {"brokers": [{"broker_id": number} for number in (1, 2, 3)]}

    def list_partition_reassignments(self, asked: dict[str, list[int]]) -> dict[Named, dict[str, list[int]]]:
        if self.refusal is not None:
            raise self.refusal
        assert asked == {"orders": [0]}
        return {Named("orders", 0): {"replicas": [2, 3, 1], "adding_replicas": [3], "removing_replicas": [1]}}


def test_what_moves_is_told_with_what_comes_and_goes() -> None:
    standing = BrokersRoute(AdminReads(Client()), Writers()).look(WANTED)
    assert standing.partitions == {ORDERS: PartitionNow((2, 3, 1), (3,), (1,), (1, 2))}
    assert standing.alive == {1, 2, 3}


@pytest.mark.parametrize(
    "refusal", [errors.ClusterAuthorizationFailedError(), errors.IncompatibleBrokerVersion("too old")]
)
def test_who_may_not_ask_what_moves_is_not_told_that_nothing_does(refusal: Exception) -> None:
    route = BrokersRoute(AdminReads(Client(refusal)), Writers())
    with pytest.raises(ActionRefused, match=r"authoriz|too old"):
        route.look(WANTED)
