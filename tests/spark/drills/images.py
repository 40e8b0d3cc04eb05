"""Clusters in any state a snapshot may find them in, also in states that no controller would leave behind."""

from __future__ import annotations

from hypothesis import strategies as st

from model.cluster.cluster_image import ClusterImage
from model.cluster.records import ClusterRecord, ConfigChanged, PartitionState, PartitionStatesWritten, TopicAssigned
from tests.model.drills.clusters import EPOCH, cluster

BROKERS = range(1, 7)
GENERATIONS = ("0.8", "0.9-1.x", "2.x", "3.x", "unknown")


@st.composite
def images(draw: st.DrawFn) -> ClusterImage:
    """Dead brokers, also in ISRs and as leaders; leaders outside of the ISR; replicas out of sync; unclean topics;
    min.insync.replicas of topics and of brokers; partitions without a state; reassignments that wait; no controller in
    office."""
    live = sorted(draw(st.sets(st.sampled_from(BROKERS), min_size=3)))
    records: list[ClusterRecord] = []
    generation = draw(st.sampled_from(GENERATIONS))
    for number in range(draw(st.integers(1, 3))):
        records += draw(topics(f"t{number}", reassigns=generation in ("2.x", "3.x", "unknown")))
    defaults = draw(settings())
    if defaults:
        records.append(ConfigChanged(entity="brokers/<default>", config=defaults))
    office = draw(st.sampled_from([*live, None]))
    return cluster(live, *records, controller=office, generation=generation)


@st.composite
def settings(draw: st.DrawFn) -> dict[str, str]:
    """Some of what counts."""
    found = {
        "min.insync.replicas": draw(st.sampled_from((None, None, "1", "2", "3", "x"))),
        "unclean.leader.election.enable": draw(st.sampled_from((None, None, "true", "false"))),
    }
    return {key: value for key, value in found.items() if value is not None}


@st.composite
def topics(draw: st.DrawFn, name: str, *, reassigns: bool) -> list[ClusterRecord]:
    """A topic of a few partitions. Before 2.4 no znode says that replicas are being added."""
    assigned: dict[int, tuple[int, ...]] = {}
    adding: dict[int, tuple[int, ...]] = {}
    states: list[PartitionState] = []
    for number in range(draw(st.integers(1, 4))):
        replicas = tuple(draw(st.lists(st.sampled_from(BROKERS), min_size=1, max_size=4, unique=True)))
        isr = tuple(draw(st.lists(st.sampled_from(replicas), min_size=1, unique=True)))
        if not draw(st.integers(0, 9)):  # a stranger: the cluster contradicts itself
            isr = tuple(dict.fromkeys((draw(st.sampled_from(BROKERS)), *isr)))
        waiting = [replica for replica in replicas if replica not in isr]
        assigned[number] = replicas
        if draw(st.integers(0, 9)):
            if reassigns and waiting and draw(st.booleans()):
                adding[number] = (waiting[0],)
            leader = draw(st.sampled_from([*isr, isr[0], -1]))
            if not draw(st.integers(0, 5)):  # outside of the ISR, or even no replica
                leader = draw(st.sampled_from(BROKERS))
            elr = tuple(draw(st.lists(st.sampled_from(replicas), unique=True))) if not draw(st.integers(0, 5)) else None
            if elr and leader == -1:  # KRaft empties the ISR
                isr = ()
                if {*adding.get(number, ())} <= {*elr}:  # a reassignment that is complete at once is not swept
                    adding.pop(number, None)
            states.append(PartitionState(number, leader, 3, isr, EPOCH, 4, elr=elr))
    return [
        TopicAssigned(topic=name, replicas=assigned, topic_id="i" * 22, adding=adding),
        PartitionStatesWritten(topic=name, states=tuple(states)),
        ConfigChanged(entity=f"topics/{name}", config=draw(settings())),
    ]
