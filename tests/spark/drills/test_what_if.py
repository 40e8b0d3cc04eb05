"""Whatever the cluster, whoever dies: the drill counts what the controller's what-if leaves behind."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.analyses.drills.fates import fate
from model.analyses.drills.results import NAMES
from model.analyses.drills.sums import rows_of, rules_in
from model.analyses.image_arrays import arrays_of, topics_of
from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.health import health, surroundings
from model.cluster.ids import KafkaGeneration, TopicPartition
from model.cluster.records import PartitionState, PartitionStatesWritten, TopicAssigned
from model.drills.drill import PlayedDrill, run
from model.drills.outcomes import OutcomeKind
from model.drills.scenario import Scenario
from tests.model.drills.clusters import EPOCH, cluster
from tests.spark.drills.images import GENERATIONS, images


@st.composite
def cases(draw: st.DrawFn) -> tuple[ClusterImage, Scenario]:
    """A cluster, and some of its brokers but not all."""
    image = draw(images())
    live = sorted(image.brokers)
    kill = draw(st.sets(st.sampled_from(live), min_size=1, max_size=len(live) - 1))
    return image, Scenario(kill=tuple(sorted(kill)), unclean=draw(st.booleans()))


def played(drill: PlayedDrill) -> dict[TopicPartition, dict[str, int]]:
    """The counts of each partition."""
    flags: dict[TopicPartition, dict[str, int]] = {}
    was, now = (health(image, image.topics, surroundings(image)) for image in (drill.before, drill.after))
    short = [set(_names(one, one.under_min_isr)) for one in (was, now)]
    outcomes = {one.partition: one for one in drill.affected}
    for name in _names(now, now.columns.partitions >= 0):
        one = outcomes.get(name)
        counts = dict.fromkeys(NAMES, 0)
        counts["unclean"] = int(one is not None and one.outcome is OutcomeKind.UNCLEAN)
        counts["newly_offline"] = int(one is not None and one.outcome is OutcomeKind.OFFLINE)
        counts["leaders_moved"] = int(one is not None and one.leader[1] not in (-1, one.leader[0]))
        counts["newly_under_min_isr"] = int(name in short[1] - short[0])
        counts["hurt"] = int(counts["unclean"] or counts["newly_offline"] or counts["newly_under_min_isr"])
        flags[name] = counts
    for count in ("offline", "under_min_isr", "under_replicated"):
        for name in _names(now, getattr(now, count)):
            flags[name][count] = 1
    return flags


def _names(now, flags) -> list[TopicPartition]:
    return [
        TopicPartition(topic.name, number)
        for topic, rows in now.columns.by_topic(flags)
        for number in now.columns.partitions[rows].tolist()
    ]


@settings(max_examples=100)
@given(cases())
def test_what_becomes_of_every_partition_is_what_the_controller_makes_of_it(
    case: tuple[ClusterImage, Scenario],
) -> None:
    image, scenario = case
    assert swept(image, scenario) == played(run(image, scenario))


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("controller", [1, 2, None])
def test_a_live_stranger_in_the_isr_keeps_everybody_else_from_leading(
    generation: KafkaGeneration, controller: int | None
) -> None:
    """Whoever decides, and though the topic's other partition is led by a replica that is not in sync."""
    states = tuple(PartitionState(number, 1, 3, isr, EPOCH, 4) for number, isr in enumerate([(3, 1), (1,)]))
    image = cluster(
        [1, 2, 3],
        TopicAssigned(topic="t", replicas={0: (2, 1), 1: (2, 1)}),
        PartitionStatesWritten(topic="t", states=states),
        controller=controller,
        generation=generation,
    )
    scenario = Scenario(kill=(1,), unclean=True)
    drill = run(image, scenario)
    assert [(one.outcome, one.partition.partition) for one in drill.affected] == [
        (OutcomeKind.OFFLINE, 0),
        (OutcomeKind.UNCLEAN, 1),
    ]
    assert swept(image, scenario) == played(drill)


def test_an_eligible_leader_replica_is_elected_cleanly() -> None:
    """Whatever is configured: where the last of the ISR dies, who is in the ELR lost nothing (KIP-966)."""
    state = PartitionState(0, 3, 3, (3,), EPOCH, 4, elr=(2,), last_known_elr=())
    image = cluster(
        [2, 3],
        TopicAssigned(topic="t", replicas={0: (1, 3, 2)}),
        PartitionStatesWritten(topic="t", states=(state,)),
        controller=3,
        generation="kraft",
    )
    scenario = Scenario(kill=(3,), unclean=True)
    drill = run(image, scenario)
    assert [(one.leader, one.isr, one.outcome) for one in drill.affected] == [((3, 2), ((3,), (2,)), OutcomeKind.CLEAN)]
    assert swept(image, scenario) == played(drill)


def swept(image: ClusterImage, scenario: Scenario) -> dict[TopicPartition, dict[str, int]]:
    """The counts of each partition, as the analysis decides them."""
    arrays, names = arrays_of(image), topics_of(image)
    ruler = int(arrays["controller"][0])
    ids_of_brokers = arrays["brokers"].tolist()  # whoever rules and is none of them, as a quorum does, dies in no drill
    dies = ids_of_brokers[ruler] in scenario.kill if 0 <= ruler < len(ids_of_brokers) else False
    counts: dict[TopicPartition, dict[str, int]] = {}
    for row in range(len(arrays["leader"])):
        one = rows_of(arrays, [(row, row + 1)], unclean=scenario.unclean)
        ids = [int(arrays["brokers"][member[0]]) if member[0] >= 0 else -1 for member in one.members]
        dead = sum(1 << place for place, broker in enumerate(ids) if broker in scenario.kill)
        found = fate(one.kinds[0], dead, rules_in(arrays), ruled=ruler >= 0, ruler_dies=dies)
        name = TopicPartition(names[arrays["topic"][row]], int(arrays["partition"][row]))
        counts[name] = dict(zip(NAMES, found.counts, strict=True))
    return counts
