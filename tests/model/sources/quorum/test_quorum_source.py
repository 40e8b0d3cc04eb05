"""`controllers://…` over sockets: voters on loopback that have a real quorum's log."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest

from model.cluster.cluster_image import ClusterImage
from model.cluster.partition_columns import states_of
from model.observer.messages import LogPosition
from model.sources.addresses import ControllersAddress
from model.sources.feed import Feed
from model.sources.quorum.quorum_source import QuorumSource
from model.sources.timeline import Timeline
from model.sources.timeline_window import RECALLED
from model.sources.zookeeper.browser import Witness
from tests.harness.waiting import eventually_async
from tests.model.hosts.observing.test_observing import Voters
from tests.model.metadata_log.kept import QUORUM
from tests.model.observer.simulated_quorum import Entry
from tests.model.sources.quorum.test_facts import batches

KEPT = 158
"""Up to here the log is there from the beginning."""


async def quorum_of_three() -> Voters:
    """Led by 2, as the log was left in epoch 3; its end is not committed yet."""
    voters = Voters()
    log = [Entry(each.base_offset, each.next_offset, each.epoch, each.data) for each in batches()]
    for number, voter in voters.quorum.voters.items():
        await voters.listen(number)
        voter.log, voter.epoch, voter.leader = list(log), 3, 2
        voter.high_watermark = max(each.end for each in log if each.end <= KEPT)
    return voters


@pytest.fixture
async def voters() -> AsyncIterator[Voters]:
    voters = await quorum_of_three()
    yield voters
    await voters.close()


@contextmanager
def followed(*addresses: tuple[str, int], connect_s: float = 60.0) -> Iterator[Feed]:
    source = QuorumSource(ControllersAddress(addresses), interval_s=0.2, connect_s=connect_s)
    feed = Feed(source.name, lambda _: None)
    source.open(feed)
    try:
        yield feed
    finally:
        source.close()


async def test_a_cluster_is_shown_as_far_as_it_is_committed(voters: Voters) -> None:
    leader = voters.quorum.voters[2]
    with followed(*voters.addresses) as feed:
        await eventually_async(lambda: feed.moment.status.phase == "live", standing=lambda: feed.moment.status)
        image = feed.moment.image
        assert (image.provenance.complete, image.provenance.zxid) == (True, leader.high_watermark - 1)
        assert (image.generation, image.cluster_id, image.controller.epoch) == ("kraft", "simulated", 3)
        assert 6 in image.brokers
        leader.high_watermark = leader.end.offset
        await eventually_async(lambda: 6 not in feed.moment.image.brokers, "broker 6 to be unregistered")
        assert feed.moment.image.provenance.zxid >= KEPT, "of the last record that says something"
        assert [each.kind for each in feed.moment.feed if each.subject == "broker 6"]


async def test_without_brokers_the_cluster_is_shown_with_a_warning(voters: Voters) -> None:
    voters.quorum.voters[2].high_watermark = 164
    with followed(*voters.addresses) as feed:
        await eventually_async(
            lambda: feed.moment.status.phase == "live" and feed.moment.status.warning.startswith("brokers: "),
            standing=lambda: feed.moment.status,
        )
        assert not feed.moment.status.is_partial


async def test_without_a_leader_it_is_stale_and_what_was_shown_stands(voters: Voters) -> None:
    voters.quorum.voters[2].high_watermark = 164
    with followed(*voters.addresses) as feed:
        await eventually_async(lambda: feed.moment.status.phase == "live", standing=lambda: feed.moment.status)
        image = feed.moment.image
        for voter in voters.quorum.voters.values():
            voter.epoch, voter.leader = 4, -1
        await eventually_async(lambda: feed.moment.status.phase == "stale", standing=lambda: feed.moment.status)
        assert feed.moment.status.reason == "a controller is being elected (epoch 4)"
        assert feed.moment.image.topics is image.topics


async def test_where_nobody_answers_it_closes_in_the_end() -> None:
    with followed(("127.0.0.1", 1), connect_s=0.2) as feed:
        await eventually_async(lambda: feed.moment.status.phase == "closed", standing=lambda: feed.moment.status)
        assert feed.moment.status.reason.startswith("controllers://127.0.0.1:1: 127.0.0.1:1: ")


async def test_a_broker_is_no_controller() -> None:
    voters = Voters(17)
    await voters.listen(1, as_broker=True)
    try:
        with followed(*voters.addresses) as feed:
            await eventually_async(lambda: feed.moment.status.phase == "closed", standing=lambda: feed.moment.status)
            assert feed.moment.status.reason.endswith("is a broker's listener, not a controller's")
    finally:
        await voters.close()


async def test_who_lacks_the_right_is_told_which_and_what_works_without_it(voters: Voters) -> None:
    voters.denies = True
    with followed(*voters.addresses) as feed:
        await eventually_async(lambda: feed.moment.status.phase == "denied", standing=lambda: feed.moment.status)
        reason = feed.moment.status.reason
    assert reason.endswith(
        "CLUSTER_AUTHORIZATION_FAILED: the metadata log takes the right CLUSTER_ACTION on the cluster; "
        "kafka://BROKER:PORT polls brokers, which takes no such right"
    )


def ready_to_compare(image: ClusterImage) -> tuple[object, ...]:
    """Without when and by whom things were written, which a snapshot does not say."""
    states = {
        name: [
            (state.partition, state.leader, state.leader_epoch, state.version, state.isr, state.elr)
            for state in states_of(topic)
        ]
        for name, topic in image.topics.items()
    }
    brokers = {number: (broker.epoch, broker.endpoints, broker.rack) for number, broker in image.brokers.items()}
    return states, brokers, image.configs, image.metadata, image.controller.broker, image.controller.epoch


async def test_why_a_log_is_not_read_from_its_start_is_said(voters: Voters, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.observer.past.MOST_OFFSETS", 100)
    told: list[Timeline] = []
    voters.quorum.voters[2].high_watermark = 164
    source = QuorumSource(ControllersAddress(tuple(voters.addresses)), interval_s=0.2)
    source.recall(told.append)
    feed = Feed(source.name, lambda _: None)
    source.open(feed)
    try:
        await eventually_async(lambda: feed.moment.status.unread, "the reason", standing=lambda: feed.moment.status)
        assert feed.moment.status.unread == "it has 164 records, more than the 100 that are read"
        assert not told
    finally:
        source.close()


async def test_what_was_before_it_was_opened_is_told_from_the_log(voters: Voters) -> None:
    """Also where the first picture came from a snapshot."""
    told: list[Timeline] = []
    path = QUORUM / f"{137:020}-{2:010}.checkpoint"
    vars(voters.quorum)["snapshot"] = lambda _: path.read_bytes()
    for voter in voters.quorum.voters.values():
        voter.snapshot, voter.high_watermark = LogPosition(137, 2), 164
    source = QuorumSource(ControllersAddress(tuple(voters.addresses)), interval_s=0.2)
    source.recall(told.append)
    feed = Feed(source.name, lambda _: None)
    witness = Witness(feed)
    source.open(witness)
    try:
        await eventually_async(lambda: told, "the past", standing=lambda: feed.moment.status)
    finally:
        source.close()
    timeline = told[0]
    times = [instant.at_ms for instant in timeline.instants]
    assert times == sorted(times)
    assert all(instant.seq < RECALLED for instant in timeline.instants)
    kinds = [(change.kind, change.subject) for change in timeline.feed]
    assert ("broker-fenced", "broker 4") in kinds
    assert ("controller-moved", "controller") in kinds
    ends = [ready_to_compare(image) for image in (timeline.image, feed.moment.image)]
    assert ends[0] == ends[1], "both end with the same cluster"
    offsets = [record.offset for record in witness.records()]
    assert (offsets[0], offsets) == (0, sorted({*offsets}))
