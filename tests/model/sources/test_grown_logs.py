"""Log ends that are older than the offsets beside them: a commit is believed until a later look says otherwise."""

from __future__ import annotations

from model.cluster.ids import TopicPartition
from model.cluster.records import ClusterRecord, GroupSeen, LogEndsRead, OffsetCommitted
from model.sources.combined_source import GrownLogs

READ, OTHER = TopicPartition("orders", 0), TopicPartition("orders", 1)


def committed(offset: int, partition: TopicPartition = READ, group: str = "billing") -> tuple[ClusterRecord, ...]:
    return (OffsetCommitted(group=group, partition=partition, offset=offset),)


def ends(**by_number: int) -> tuple[ClusterRecord, ...]:
    return (LogEndsRead(ends={TopicPartition("orders", int(name[1:])): end for name, end in by_number.items()}),)


def test_who_commits_has_read_so_far_until_the_ends_are_read_again() -> None:
    logs = GrownLogs()
    assert logs.read(ends(p0=80, p1=5)) == ends(p0=80, p1=5)
    assert logs.commit(committed(80)) == ()
    assert logs.commit(committed(90)) == ends(p0=90, p1=5)
    assert logs.commit(committed(70, group="audit")) == ()
    assert logs.read(ends(p0=85, p1=6)) == ends(p0=90, p1=6)  # this look had begun before the commit
    assert logs.looked() == ()
    assert logs.read(ends(p0=95, p1=6)) == ends(p0=95, p1=6)
    assert logs.looked() == ()


def test_an_offset_that_is_beyond_the_end_is_told_after_a_whole_look() -> None:
    logs = GrownLogs()
    logs.read(ends(p0=80))
    assert logs.commit(committed(90)) == ends(p0=90)
    assert logs.looked() == ()  # it may have begun before the commit
    assert logs.looked() == ends(p0=80)  # and the end is still what it was
    assert logs.looked() == ()


def test_a_commit_during_a_look_counts_for_the_next_one_only() -> None:
    logs = GrownLogs()
    logs.read(ends(p0=80))
    logs.commit(committed(90))
    logs.looked()
    assert logs.commit(committed(91)) == ends(p0=91)
    assert logs.looked() == ()
    assert logs.looked() == ends(p0=80)


def test_of_what_is_not_measured_nothing_is_told() -> None:
    logs = GrownLogs()
    assert logs.commit(committed(90)) == ()
    assert logs.read((GroupSeen(group="billing"), *ends(p1=5))) == (GroupSeen(group="billing"), *ends(p1=5))
    assert logs.commit(committed(7, OTHER)) == ends(p1=7)
