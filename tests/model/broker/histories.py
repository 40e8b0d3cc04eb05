"""Random histories of a partition, and what must be true after each step of one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from itertools import combinations

from model.broker.partition import ReplicationSettings
from tests.model.broker.network import BROKERS, Network, Node

Step = tuple[str, int]


def kill(network: Network, broker: int) -> None:
    """kill -9: the session lives on for a while."""
    network.nodes[broker].die()


STEPS: Mapping[str, Callable[[Network, int], None]] = {
    "fetch": Network.fetch,
    "deliver": Network.deliver,
    "produce": Network.produce,
    "obey": Network.obey,
    "consume": Network.consume,
    "answer ISR": Network.answer_isr,
    "hear ISR": Network.hear_isr,
    "lose ISR answer": lambda network, broker: network.hear_isr(broker, lost=True),
    "elect": Network.elect,
    "pass time": Network.pass_time,
    "kill": kill,
    "expire": Network.expire,
    "register": Network.register,
    "checkpoint": Network.save_checkpoint,
}
WEIGHTS = (40, 40, 16, 30, 6, 12, 12, 1, 2, 1, 1, 2, 4, 2)


def random_history(seed: int, length: int = 400) -> list[Step]:
    """The same for the same seed."""
    dice = random.Random(seed)
    kinds = dice.choices(list(STEPS), WEIGHTS, k=length)
    return [(kind, dice.choice(BROKERS)) for kind in kinds]


def play(history: Iterable[Step], settings: ReplicationSettings) -> Network:
    """Take the steps; raises AssertionError after the first one that breaks what must be true."""
    network = Network(settings)
    for kind, broker in history:
        before = {each.id: each.partition for each in network.nodes.values()}
        STEPS[kind](network, broker)
        network.acknowledge()
        check(network)
        for node in network.nodes.values():
            was, now = before[node.id], node.partition
            if was and now and was.leads and now.leads and was.state.leader_epoch == now.state.leader_epoch:
                assert now.high_watermark >= was.high_watermark, "a leader's high watermark went back"
                assert now.state.partition_epoch >= was.state.partition_epoch
    return network


def check(network: Network) -> None:
    """What holds at all times."""
    state = network.state
    assert set(state.isr) <= set(BROKERS)
    assert len(set(state.isr)) == len(state.isr) > 0
    assert state.leader == -1 or state.leader in state.isr
    for broker in state.isr:
        log = network.nodes[broker].log
        for offset, record in (network.acknowledged | network.consumed).items():
            assert offset < len(log), f"an in-sync replica lacks record {offset}, which was acknowledged or read"
            assert log[offset] == record, f"an in-sync replica has another record {offset}"
    for one, other in combinations(network.nodes.values(), 2):
        common = min(committed(one), committed(other))
        assert one.log[:common] == other.log[:common], f"logs of {one.id} and {other.id} diverge"


def committed(node: Node) -> int:
    """A broker's high watermark."""
    return node.partition.high_watermark if node.partition else 0


def recover(network: Network) -> None:
    """Bring every broker back, elect once more, and let everything arrive."""
    for broker in BROKERS:
        network.register(broker)
    network.elect(network.state.leader)
    for _ in range(4 * len(network.nodes) + 2 * max(len(node.log) for node in network.nodes.values())):
        for broker in BROKERS:
            for kind in ("obey", "fetch", "deliver", "answer ISR", "hear ISR"):
                STEPS[kind](network, broker)
        network.acknowledge()
        check(network)
