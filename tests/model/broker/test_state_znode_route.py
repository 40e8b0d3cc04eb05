"""ISRs that leaders write themselves, and when they tell of it (Kafka's ReplicationUtilsTest)."""

from __future__ import annotations

from model.broker.isr import IsrChangeNotices, isr_found, isr_write, isr_written
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import PartitionOutcome, ProposedIsr
from model.controller.leader_and_isr import LeaderAndIsr
from model.znodes.topics import decode_isr_change, decode_partition_state
from model.zookeeper import Answer, Code, Stat
from tests.model.broker.partitions import NAME

ASKED = ProposedIsr(NAME, 5, 3, (1, 2))
FOUND = Stat(version=4)


def test_the_write_expects_the_version_and_names_the_controller_that_elected() -> None:
    write = isr_write(ASKED, 1, 7)
    assert (write.path, write.version) == ("/brokers/topics/orders/partitions/0/state", 3)
    assert write.data == b'{"controller_epoch":7,"leader":1,"version":1,"leader_epoch":5,"isr":[1,2]}'


def test_a_recovering_leader_says_so() -> None:
    payload = decode_partition_state(isr_write(ProposedIsr(NAME, 5, 3, (1,), recovering=True), 1, 7).data)
    assert getattr(payload, "leader_recovery_state", None) == 1


def test_a_write_that_was_made_is_an_accepted_isr() -> None:
    state = LeaderAndIsr(1, 5, (1, 2), partition_epoch=4)
    assert isr_written(ASKED, 1, Answer(stat=Stat(version=4))) == PartitionOutcome(NAME, state=state)


def test_a_lost_race_is_an_invalid_version() -> None:
    assert isr_written(ASKED, 1, Answer(Code.BAD_VERSION)).error == "INVALID_UPDATE_VERSION"
    assert isr_written(ASKED, 1, Answer(Code.NO_NODE)).error == "INVALID_UPDATE_VERSION"
    assert isr_written(ASKED, 1, Answer(Code.SESSION_EXPIRED)).error == "UNKNOWN_SERVER_ERROR"


def test_a_write_that_was_made_before_the_connection_broke_is_found_again() -> None:
    write = isr_write(ASKED, 1, 7)
    found = Answer(
        data=b'{"isr":[1,2],"leader_epoch":5,"version":1,"leader":1,"controller_epoch":7}', stat=Stat(version=4)
    )
    assert isr_found(ASKED, 1, write, found).state == LeaderAndIsr(1, 5, (1, 2), partition_epoch=4)
    other = Answer(
        data=b'{"isr":[1],"leader_epoch":6,"version":1,"leader":1,"controller_epoch":8}', stat=Stat(version=4)
    )
    assert isr_found(ASKED, 1, write, other).error == "INVALID_UPDATE_VERSION"


def test_notices_wait_for_quiet_but_not_for_ever() -> None:
    notices = IsrChangeNotices(notified_ms=0)
    assert not notices.is_due(100_000)
    notices = notices.add(NAME, 10_000)
    assert not notices.is_due(15_000)
    assert notices.is_due(15_001)
    for now_ms in range(12_000, 60_000, 4_000):
        notices = notices.add(TopicPartition("orders", now_ms), now_ms)
        assert not notices.is_due(now_ms + 2_500)
    assert notices.is_due(60_001)


def test_a_notice_names_each_partition_once() -> None:
    notices = IsrChangeNotices().add(TopicPartition("b", 1), 0).add(NAME, 1).add(NAME, 2)
    payload = decode_isr_change(notices.payload)
    entries = getattr(payload, "partitions", ())
    assert [(entry.topic, entry.partition) for entry in entries] == [("b", 1), ("orders", 0)]
    assert not notices.notified(5).is_due(1_000_000)
