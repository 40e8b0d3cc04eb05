"""The records of `__consumer_offsets`: bytes that Kafka wrote, every version back and forth, and garbage."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.group import CommittedOffset
from model.consumers.group_coordinator.stored_formats import (
    GroupRecord,
    OffsetRecord,
    StoredGroup,
    StoredMember,
    UnreadableRecordError,
    ValueVersions,
    assigned_partitions,
    read_record,
    subscribed_topics,
    value_versions,
    write_record,
)
from tests.model.consumers.group_coordinator.traces import assignment, subscription

NEWEST = ValueVersions()
text = st.text(max_size=8)
ints = st.integers(0, 2**31 - 1)
longs = st.integers(0, 2**63 - 1)
offsets = st.builds(
    CommittedOffset,
    offset=longs,
    metadata=text,
    leader_epoch=st.none() | ints,
    commit_ms=longs,
    expire_ms=st.none() | longs,
)
members = st.builds(
    StoredMember,
    member_id=text,
    instance_id=st.none() | text,
    client_id=text,
    client_host=text,
    rebalance_timeout_ms=ints,
    session_timeout_ms=ints,
    subscription=st.binary(max_size=9),
    assignment=st.binary(max_size=9),
)
groups = st.builds(
    StoredGroup,
    protocol_type=text,
    generation=ints,
    protocol=st.none() | text,
    leader=st.none() | text,
    state_since_ms=st.none() | longs,
    members=st.lists(members, max_size=3).map(tuple),
)
partitions = st.builds(TopicPartition, text, ints)
records = st.builds(OffsetRecord, text, partitions, st.none() | offsets) | st.builds(
    GroupRecord, text, st.none() | groups
)


def test_an_offset_that_kafka_wrote() -> None:
    """From a log of 3.9.1."""
    key = bytes.fromhex("00010005672d74786e0005742d74786e00000000")
    value = bytes.fromhex("00030000000000000007ffffffff00046d657461000001a1fcea4793")
    record = OffsetRecord(
        "g-txn", TopicPartition("t-txn", 0), CommittedOffset(offset=7, metadata="meta", commit_ms=1795244574611)
    )
    assert read_record(key, value) == record
    assert write_record(record, NEWEST) == (key, value)


@given(records)
def test_what_is_written_is_read(record: OffsetRecord | GroupRecord) -> None:
    value = record.value
    if isinstance(value, CommittedOffset) and value.expire_ms is not None:
        return  # version 1, which has no leader epoch
    assert read_record(*write_record(record, NEWEST)) == record


@given(offsets, st.sampled_from([0, 1, 2, 3]))
def test_old_versions_of_offsets_keep_what_they_have(offset: CommittedOffset, version: int) -> None:
    key, value = write_record(OffsetRecord("g", TopicPartition("t", 1), offset), ValueVersions(offset=version))
    assert value is not None
    written = 1 if offset.expire_ms is not None else version
    assert value[:2] == struct.pack(">h", written)
    read = read_record(key, value)
    assert isinstance(read, OffsetRecord) and read.value is not None
    assert (read.value.offset, read.value.metadata, read.value.commit_ms) == (
        offset.offset,
        offset.metadata,
        offset.commit_ms,
    )
    assert read.value.expire_ms == offset.expire_ms
    assert read.value.leader_epoch == (offset.leader_epoch if written == 3 else None)


@given(groups, st.sampled_from([0, 1, 2, 3]))
def test_old_versions_of_groups_keep_what_they_have(group: StoredGroup, version: int) -> None:
    key, value = write_record(GroupRecord("g", group), ValueVersions(group=version))
    read = read_record(key, value)
    assert isinstance(read, GroupRecord) and read.value is not None
    assert read.value.generation == group.generation
    assert read.value.state_since_ms == (group.state_since_ms if version >= 2 else None)
    for one, other in zip(read.value.members, group.members, strict=True):
        assert one.instance_id == (other.instance_id if version >= 3 else None)
        assert one.rebalance_timeout_ms == (other.rebalance_timeout_ms if version >= 1 else other.session_timeout_ms)
        assert one.assignment == other.assignment


def test_flexible_versions_are_read() -> None:
    """Version 4, which 3.9 reads and no release writes so far: compact lengths, tagged fields behind."""
    key, _ = write_record(OffsetRecord("g", TopicPartition("t", 1), None), NEWEST)
    offset = read_record(key, struct.pack(">hqi", 4, 9, 2) + b"\x03ab" + struct.pack(">q", 77) + b"\x01\x00\x01x")
    assert offset == OffsetRecord(
        "g", TopicPartition("t", 1), CommittedOffset(offset=9, leader_epoch=2, metadata="ab", commit_ms=77)
    )
    key, _ = write_record(GroupRecord("g", None), NEWEST)
    member = b"\x02m\x00\x02c\x02h" + struct.pack(">ii", 5, 6) + b"\x02s\x02a" + b"\x00"
    value = struct.pack(">h", 4) + b"\x02p" + struct.pack(">i", 3) + b"\x00\x02m" + struct.pack(">q", -1)
    read = read_record(key, value + b"\x02" + member + b"\x00")
    assert isinstance(read, GroupRecord) and read.value is not None
    assert read.value == StoredGroup(
        protocol_type="p",
        generation=3,
        leader="m",
        members=(
            StoredMember(
                member_id="m",
                client_id="c",
                client_host="h",
                rebalance_timeout_ms=5,
                session_timeout_ms=6,
                subscription=b"s",
                assignment=b"a",
            ),
        ),
    )


@pytest.mark.parametrize(
    ("release", "versions"),
    [
        ("0.10.0-IV1", ValueVersions(1, 0)),
        ("0.10.1-IV0", ValueVersions(1, 1)),
        ("2.0-IV1", ValueVersions(1, 1)),
        ("2.1-IV0", ValueVersions(2, 2)),
        ("2.1-IV1", ValueVersions(3, 2)),
        ("2.2-IV1", ValueVersions(3, 2)),
        ("2.3-IV0", ValueVersions(3, 3)),
        ("3.9-IV0", ValueVersions(3, 3)),
    ],
)
def test_each_release_writes_its_versions(release: str, versions: ValueVersions) -> None:
    assert value_versions(release) == versions


def test_keys_of_other_kinds_are_passed_over() -> None:
    assert read_record(struct.pack(">h", 3) + b"whatever", b"") is None


@given(st.binary(max_size=60), st.none() | st.binary(max_size=60))
def test_garbage_is_read_or_refused(key: bytes, value: bytes | None) -> None:
    for named in (key, b"\x00\x02\x00\x01g", b"\x00\x01\x00\x01g\x00\x01t\x00\x00\x00\x00"):
        with suppress(UnreadableRecordError):
            read_record(named, value)
    for read in (subscribed_topics, assigned_partitions):
        with suppress(UnreadableRecordError):
            read(key)


def test_what_consumers_tell_each_other() -> None:
    assert subscribed_topics(subscription("a", "b")) == {"a", "b"}
    assert assigned_partitions(assignment("a", 3, 1)) == (TopicPartition("a", 3), TopicPartition("a", 1))
    assert assigned_partitions(b"") == ()
