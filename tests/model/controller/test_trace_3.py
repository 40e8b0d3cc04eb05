"""ISRs that leaders change, against the transactions of a real 3.9.1 cluster in which a follower was stopped (T01)."""

from __future__ import annotations

from model.cluster.ids import TopicPartition
from model.controller import events
from model.controller.events import ProposedIsr
from tests.model.controller.golden_trace import by_path, scenario
from tests.model.controller.trace_scenarios import create_topic
from tests.model.controller.virtual_cluster import VirtualCluster

STATE = "/brokers/topics/e/partitions/0/state"


def test_an_isr_shrinks_and_grows_without_a_new_leader_epoch() -> None:
    cluster = VirtualCluster(auto_leader_rebalance_enable=False)
    cluster.start(0)
    cluster.start(1)
    create_topic(cluster, "e", (0, 1))
    mark = len(cluster.log)
    follower = cluster.nodes[1].broker
    fetched = follower.replicas.pop(TopicPartition("e", 0))
    answer = cluster.ask(
        events.AlterPartitionReceived,
        broker=0,
        broker_epoch=cluster.nodes[0].controller.context.live[0].epoch,
        proposals=(ProposedIsr(TopicPartition("e", 0), 0, 0, (0,)),),
    )
    leader = cluster.nodes[0].broker.replicas[TopicPartition("e", 0)]
    assert answer.partitions[0].state is not None
    leader.state = answer.partitions[0].state
    follower.replicas[TopicPartition("e", 0)] = fetched
    cluster.settle()
    assert by_path(cluster.since(mark)) == {STATE: by_path(scenario("golden-trace-3.txt", "T01"))[STATE]}
