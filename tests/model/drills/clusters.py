"""Small clusters to play drills on, and short ways to say what became of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hypothesis import strategies as st

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance, state_in
from model.cluster.ids import KafkaGeneration, TopicPartition
from model.cluster.records import (
    BrokerRegistered,
    ClusterRecord,
    ConfigChanged,
    ControllerElected,
    ControllerEpochChanged,
    GenerationRecognised,
    PartitionState,
    PartitionStatesWritten,
    TopicAssigned,
)
from model.drills.drill import PlayedDrill

NOW_MS = 1_700_000_000_000
EPOCH = 7
"""The controller epoch before."""
T0 = TopicPartition("t", 0)


def cluster(
    live: Iterable[int], *records: ClusterRecord, controller: int | None = 1, generation: KafkaGeneration = "3.x"
) -> ClusterImage:
    """Live brokers in racks r0, r1, r2 in turn, broker epochs from 100 on, and what the records say."""
    registered = [
        BrokerRegistered(broker=b, endpoints=(f"PLAINTEXT://h{b}:9092",), rack=f"r{b % 3}", epoch=100 + b) for b in live
    ]
    office: list[ClusterRecord] = [ControllerEpochChanged(epoch=EPOCH), GenerationRecognised(generation=generation)]
    if controller is not None:
        office.append(ControllerElected(broker=controller, since_ms=NOW_MS))
    delta = ClusterDelta(EMPTY).replay_all([*registered, *office, *records])
    return delta.apply(Provenance("test", 10_000, NOW_MS, complete=True))


def topic(
    replicas: Sequence[int],
    isr: Sequence[int],
    leader: int,
    epoch: int = 0,
    *,
    name: str = "t",
    version: int | None = None,
    adding: Mapping[int, tuple[int, ...]] | None = None,
    **config: str,
) -> list[ClusterRecord]:
    """A topic of one partition. Keys of `config` have _ for Kafka's dots."""
    state = PartitionState(0, leader, epoch, tuple(isr), EPOCH, epoch if version is None else version)
    return [
        TopicAssigned(topic=name, replicas={0: tuple(replicas)}, topic_id="i" * 22, adding=adding or {}),
        PartitionStatesWritten(topic=name, states=(state,)),
        ConfigChanged(entity=f"topics/{name}", config={key.replace("_", "."): text for key, text in config.items()}),
    ]


def several(name: str, replicas: Mapping[int, tuple[int, ...]]) -> list[ClusterRecord]:
    """A topic of these partitions, all in sync, led by their first replica, two of which producers want."""
    states = tuple(PartitionState(number, own[0], 0, own, EPOCH, 0) for number, own in replicas.items())
    return [
        TopicAssigned(topic=name, replicas=dict(replicas), topic_id="i" * 22),
        PartitionStatesWritten(topic=name, states=states),
        ConfigChanged(entity=f"topics/{name}", config={"min.insync.replicas": "2"}),
    ]


def became(drill: PlayedDrill, name: TopicPartition = T0) -> tuple[int, int, tuple[int, ...]]:
    """Leader, leader epoch and ISR afterwards."""
    state = state_in(drill.after, name)
    assert state is not None
    return state.leader, state.leader_epoch, state.isr


broker_ids = st.integers(1, 5)


@st.composite
def clusters(draw: st.DrawFn) -> ClusterImage:
    """What a controller would leave behind: led wherever somebody in sync lives, else the last of the ISR is known."""
    live = sorted(draw(st.sets(broker_ids, min_size=2)))
    records: list[ClusterRecord] = []
    for number in range(draw(st.integers(1, 3))):
        name = f"t{number}"
        assigned: dict[int, tuple[int, ...]] = {}
        states: list[PartitionState] = []
        for partition in range(draw(st.integers(1, 4))):
            replicas = tuple(draw(st.lists(broker_ids, min_size=1, max_size=4, unique=True)))
            assigned[partition] = replicas
            states.append(_state(draw, partition, replicas, frozenset(live)))
        unclean = draw(st.sampled_from((None, "true", "false")))
        config = {} if unclean is None else {"unclean.leader.election.enable": unclean}
        records += [
            TopicAssigned(topic=name, replicas=assigned, topic_id="i" * 22),
            PartitionStatesWritten(topic=name, states=tuple(states)),
            ConfigChanged(entity=f"topics/{name}", config=config),
        ]
    return cluster(live, *records, controller=draw(st.sampled_from(live)))


def _state(draw: st.DrawFn, partition: int, replicas: tuple[int, ...], live: frozenset[int]) -> PartitionState:
    in_sync = draw(st.permutations(sorted(live.intersection(replicas))))
    isr = tuple(in_sync[: draw(st.integers(0, len(in_sync)))]) or (replicas[-1],)
    leader = draw(st.sampled_from(isr)) if isr[0] in live else -1
    epoch = draw(st.integers(0, 9))
    return PartitionState(partition, leader, epoch, isr, EPOCH, epoch + draw(st.integers(0, 3)))
