"""Whatever a KRaft cluster is like, whoever dies: the sweep's kernel counts what KRaft's own rules leave behind."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from model.cluster import records as r
from model.cluster.cluster_image import ClusterImage
from model.cluster.image_parts import KraftMetadata
from model.drills.drill import run
from model.drills.scenario import Scenario
from model.kraft_controller.partition_change import ELR_FEATURE, HIGHEST_LEVELS
from tests.model.drills.clusters import EPOCH, cluster
from tests.spark.drills.images import settings as some_settings
from tests.spark.drills.test_what_if import played, swept

BROKERS = range(1, 7)


@st.composite
def partitions(draw: st.DrawFn, live: list[int], number: int, *, elr: bool) -> tuple[tuple[int, ...], r.PartitionState]:
    """As the controller leaves one: only who lives is in sync, or the last one of an ISR that died without ELR."""
    replicas = tuple(draw(st.lists(st.sampled_from(BROKERS), min_size=1, max_size=4, unique=True)))
    alive = [each for each in replicas if each in live]
    isr = tuple(draw(st.lists(st.sampled_from(alive), unique=True))) if alive else ()
    leader = draw(st.sampled_from(isr)) if isr else -1
    eligible, last = (), ()
    if elr:
        rest = [each for each in replicas if each not in isr]
        eligible = tuple(draw(st.lists(st.sampled_from(rest), unique=True))) if rest else ()
        last = tuple(draw(st.lists(st.sampled_from(replicas), max_size=2, unique=True)))
        if not isr:  # else somebody alive had been elected
            eligible = tuple(each for each in eligible if each not in live)
            last = tuple(each for each in last if each not in live)
    elif not isr:
        dead = [each for each in replicas if each not in live]
        isr = (draw(st.sampled_from(dead)),) if dead else (replicas[0],)
        leader = -1 if dead else replicas[0]
    recovering = draw(st.booleans())
    state = r.PartitionState(number, leader, 3, isr, EPOCH, 4, recovering, elr=eligible, last_known_elr=last)
    return replicas, state


@st.composite
def kraft_images(draw: st.DrawFn) -> ClusterImage:
    live = sorted(draw(st.sets(st.sampled_from(BROKERS), min_size=3)))
    release = draw(st.sampled_from([*HIGHEST_LEVELS]))
    level = HIGHEST_LEVELS[release]
    elr = release >= (4, 0) and draw(st.booleans())
    records: list[r.ClusterRecord] = [r.GenerationRecognised(generation="kraft")]
    for name in ("a", "b"):
        made = [draw(partitions(live, number, elr=elr)) for number in range(draw(st.integers(1, 3)))]
        records.append(r.TopicAssigned(topic=name, replicas={state.partition: each for each, state in made}))
        records.append(r.PartitionStatesWritten(topic=name, states=tuple(state for _, state in made)))
        records.append(r.ConfigChanged(entity=f"topics/{name}", config=draw(some_settings())))
    image = cluster(live, *records, controller=None)
    features = {"metadata.version": level} | ({ELR_FEATURE: 1} if elr else {})
    return msgspec.structs.replace(image, metadata=KraftMetadata(features))


@st.composite
def cases(draw: st.DrawFn) -> tuple[ClusterImage, Scenario]:
    image = draw(kraft_images())
    live = sorted(image.brokers)
    kill = draw(st.sets(st.sampled_from(live), min_size=1, max_size=len(live) - 1))
    return image, Scenario(kill=tuple(sorted(kill)), unclean=draw(st.booleans()))


@settings(deadline=None)
@given(cases())
def test_what_becomes_of_every_partition_is_what_kraft_makes_of_it(case: tuple[ClusterImage, Scenario]) -> None:
    image, scenario = case
    assert swept(image, scenario) == played(run(image, scenario))
