"""What is handed on of a real quorum's log, as facts: one listing, then news; and addresses of controllers."""

from __future__ import annotations

import msgspec
import pytest

from model.cluster import records as r
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance
from model.cluster.image_parts import Quorum, QuorumReplica
from model.log.records import RecordBatch, scan
from model.observer.messages import BatchesCommitted, LogBatch, LogPosition, QuorumSeen, SnapshotRead
from model.sources.addresses import ControllersAddress, parse_source
from model.sources.quorum.facts import LogFacts
from model.sources.source import FactBatch, SourceError
from tests.model.metadata_log.kept import LOG, QUORUM


def batches() -> list[LogBatch]:
    """Of the quorum's log: offsets 0 to 163, epochs 1 to 3."""
    data = (QUORUM / LOG).read_bytes()
    return [
        LogBatch(each.base_offset, each.next_offset, each.partition_leader_epoch, each.max_timestamp, piece)
        for each in scan(data)
        if isinstance(each, RecordBatch) and (piece := data[each.position : each.end])
    ]


def snapshot(end: int, epoch: int) -> SnapshotRead:
    return SnapshotRead(LogPosition(end, epoch), (QUORUM / f"{end:020}-{epoch:010}.checkpoint").read_bytes())


def image_of(told: list[FactBatch]) -> ClusterImage:
    """As a feed makes it; the times that a snapshot does not know left out."""
    image = EMPTY
    for batch in told:
        delta = ClusterDelta(EMPTY if batch.listing else image).replay_all(batch.records)
        image = delta.apply(Provenance(zxid=batch.zxid, time_ms=batch.time_ms, complete=True))
    brokers = {each: msgspec.structs.replace(one, registered_ms=0) for each, one in image.brokers.items()}
    return msgspec.structs.replace(image, brokers=brokers)


def following(*handed: BatchesCommitted | SnapshotRead, then: list[LogBatch]) -> list[FactBatch]:
    """Told of these, up to date, and told of one batch after the other then."""
    told: list[FactBatch] = []
    facts = LogFacts(told.append)
    for each in handed:
        facts.take(each)
    assert not told, "nothing is shown before all of it is known"
    facts.list("a-cluster")
    for batch in then:
        facts.take(BatchesCommitted((batch,), batch.next_offset))
    assert facts.trouble == ""
    return told


def essentials(image: ClusterImage) -> object:
    topics = {
        name: (one.topic_id, one.leader.tolist(), one.leader_epoch.tolist(), one.isr.tolist(), one.elr.tolist())
        for name, one in image.topics.items()
    }
    return (
        topics,
        image.brokers,
        image.fenced,
        image.configs,
        image.cluster_id,
        image.generation,
        image.controller.epoch,
    )


def test_the_log_in_pieces_a_snapshot_and_all_at_once_are_one_cluster() -> None:
    log = batches()
    whole = following(BatchesCommitted(tuple(log), 164), then=[])
    assert [(batch.listing, batch.zxid, batch.time_ms) for batch in whole] == [(True, 163, log[-1].timestamp_ms)]
    for end in (10, 60, 140):
        first = tuple(each for each in log if each.next_offset <= end)
        told = following(BatchesCommitted(first, end), then=log[len(first) :])
        assert [batch.listing for batch in told] == [True] + [False] * (len(told) - 1)
        assert essentials(image_of(told)) == essentials(image_of(whole))
    behind = [each for each in log if each.base_offset >= 137]
    assert essentials(image_of(following(snapshot(137, 2), then=behind))) == essentials(image_of(whole))
    topics = image_of(whole).topics
    assert sorted(topics) == ["elr", "single"]
    assert topics["elr"].leader.tolist()[0] == 4


def test_a_later_snapshot_replaces_what_was_told_once_it_is_up_to_date() -> None:
    told: list[FactBatch] = []
    facts = LogFacts(told.append)
    facts.take(BatchesCommitted(tuple(each for each in batches() if each.next_offset <= 60), 60))
    facts.list("a-cluster")
    facts.take(snapshot(137, 2))
    assert len(told) == 1
    group = r.GroupDescribed(group="g", state="Empty")
    facts.list("a-cluster", [group])
    assert (told[1].listing, told[1].zxid, group in told[1].records) == (True, 136, True)
    facts.list("a-cluster", [group])
    assert len(told) == 2, "once"


def test_what_the_leader_says_of_the_quorum_is_told_where_it_matters() -> None:
    told: list[FactBatch] = []
    facts = LogFacts(told.append)
    facts.take(BatchesCommitted(tuple(batches()), 164))
    facts.list(None)
    quorum = Quorum(2, 3, 164, voters=tuple(QuorumReplica(each, 164, 0, 9) for each in (1, 2, 3)))
    for end in (164, 165, 166):
        facts.take(QuorumSeen(msgspec.structs.replace(quorum, high_watermark=end)))
    assert [batch.records for batch in told[1:]] == [(r.QuorumDescribed(quorum=quorum),)]
    facts.list("a-cluster")
    assert told[-1].records == (r.ClusterIdentified(cluster_id="a-cluster"),)


def test_addresses() -> None:
    assert parse_source("controllers://c1, [::1]:9095") == ControllersAddress((("c1", 9093), ("::1", 9095)))
    assert str(parse_source("controllers://c1,[::1]:9095/")) == "controllers://c1:9093,[::1]:9095"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("controllers://", "'controllers://': names no controller: write controllers://host:port[,host:port…]"),
        ("controllers://a/b", "'controllers://a/b': a path in 'a/b' means nothing here: write controllers://host"),
        ("controllers://a:0", "'0' in 'a:0' is not a port number"),
        ("controllers://me:secret@a", "no name or password belongs in an address"),
    ],
)
def test_addresses_that_are_none(text: str, says: str) -> None:
    with pytest.raises(SourceError) as error:
        parse_source(text)
    assert says in str(error.value)
    assert "secret" not in str(error.value)
