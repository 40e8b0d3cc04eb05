"""Records as they are kept beside the image: each once, where the tree has them, what each changed, and no more."""

from __future__ import annotations

import json

import pytest

from model.cluster.topic_image import unpadded
from model.metadata_log.entry_history import entry_changes
from model.metadata_log.journal import LEADER_CHANGE, Journal, Logged
from model.metadata_log.replay import Replay
from model.metadata_log.topics import RecordPlace
from model.sources.metadata_tree import node_at
from tests.model.metadata_log.kept import DATA, LOG, QUORUM, RELEASES
from tests.model.metadata_log.test_replay import Cluster, of_log
from tests.model.metadata_log.writing import topic_id, written

EVERYTHING = 1 << 40


def logged(offset: int, kind: str = "Topic") -> Logged:
    return Logged(offset, 1, 1_000 * offset, kind, 0, "/topics/orders", {"voters": ()})


def test_what_is_kept_is_bounded_and_each_record_is_there_once() -> None:
    journal = Journal(most=5)
    journal.take([logged(offset) for offset in (10, 11, 12)])
    known = journal.records
    journal.take([logged(11), logged(12)])
    assert journal.records is known
    journal.take([logged(offset) for offset in range(6, 12)])
    assert [each.offset for each in journal.records] == [8, 9, 10, 11, 12]
    journal.take([logged(13, LEADER_CHANGE)])
    assert [each.offset for each in journal.records] == [9, 10, 11, 12, 13]
    assert journal.dropped == 3
    journal.take([logged(offset) for offset in range(14, 30)])
    assert [each.offset for each in journal.terms] == [13], "elections outlive what comes behind them"
    journal.forget()
    assert journal.records == journal.terms == ()


@pytest.mark.parametrize("release", RELEASES)
def test_the_tree_has_a_place_for_what_a_real_log_wrote(release: str) -> None:
    cluster = of_log(DATA / release / LOG, EVERYTHING)
    found = cluster.replay.logged()
    gone = {each.path for each in found if each.kind.startswith(("Remove", "Unregister"))}
    lost = {
        each.path
        for each in found
        if each.path and not any(f"{each.path}/".startswith(f"{path}/") for path in gone)
        if node_at(cluster.image, each.path) is None
    }
    assert found
    # A place without settings is none, though one was written and taken away; voters have one each.
    assert not [path for path in lost if not path.startswith("/configs/") and "metadataQuorum" not in path]


def test_a_partition_is_told_record_by_record_and_ends_as_the_image_has_it() -> None:
    cluster = of_log(QUORUM / LOG, EVERYTHING)
    changes = entry_changes(cluster.replay.logged(), "/topics/elr/0/data")
    assert changes[0].is_first
    assert changes[0].record.kind == "Partition"
    state = dict(changes[0].record.fields)
    for change in changes[1:]:
        for each in change.differences:
            assert state.get(each.where[0], each.before) == each.before
            state[each.where[0]] = each.after
    topic = cluster.image.topics["elr"]
    row = topic.row_of[0]
    assert (state["leader"], state["leaderEpoch"], state["partitionEpoch"]) == (4, 2, 15)
    assert (topic.leader[row], topic.leader_epoch[row], topic.version[row]) == (4, 2, 15)
    assert tuple(state["isr"]) == unpadded(topic.isr[row])


def test_settings_go_and_a_topic_takes_its_partitions_with_it() -> None:
    cluster, place = Cluster(), topic_id(7)
    cluster.take(written("Topic", name="orders", topicId=place))
    cluster.take(written("Partition", partitionId=0, topicId=place, replicas=[1], isr=[1], leader=1))
    setting = {"resourceType": 2, "resourceName": "orders", "name": "retention.ms"}
    cluster.take(written("Config", **setting, value="1"))
    cluster.take(written("Config", **setting, value="2"))
    cluster.take(written("Config", **setting, value=None))
    cluster.take(written("RemoveTopic", topicId=place))
    found = cluster.replay.logged()
    told = [(each.before, each.after) for one in entry_changes(found, "/configs/topics") for each in one.differences]
    assert [before for before, _ in told] == ["1", "2"]
    assert told[0][1] == "2"
    assert [change.is_gone for change in entry_changes(found, "/topics/orders/0/data")] == [False, True]


def test_neither_secrets_nor_what_never_counted_is_kept() -> None:
    replay = Replay()
    values = (
        written("BeginTransaction"),
        written("Topic", name="never", topicId=topic_id(1)),
        written("AbortTransaction"),
        written("NoOp"),
        written("UserScramCredential", name="alice", mechanism=1, salt=b"SALT", storedKey=b"KEY", serverKey=b"KEY"),
        written("Config", resourceType=4, resourceName="1", name="ssl.key.password", value="hunter2"),
    )
    for offset, value in enumerate(values):
        replay.take(value, RecordPlace(offset, 1, 1_000))
    found = replay.logged()
    assert [each.path for each in found] == ["/configs/users/alice", "/configs/brokers/1"]
    told = json.dumps([dict(each.fields) for each in found], default=repr)
    assert not [secret for secret in ("hunter2", "SALT", "KEY") if secret in told]
    assert replay.logged() == ()
