"""Share groups as brokers of 4.1 and later describe them: asked in a version that kio does not have, over a socket."""

from __future__ import annotations

import asyncio
from uuid import UUID

import pytest
from kio.schema.errors import ErrorCode

from model.cluster.cluster_image import EMPTY
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import SHARE, GroupImage, Member
from model.cluster.snapshot_image import group_document, group_of
from model.consumers.ownership import group_counts
from model.hosts.kafka_client import ReadingClient
from model.hosts.wire.frames import read_frame, write_frame
from model.hosts.wire.messages import API_VERSIONS_KEY, encode_response, later_version, request_start, shaped, shapes
from model.hosts.wire.names import ApiKey
from model.sources.kafka.group_requests import describe_groups, described_groups
from tests.model.sources.kafka.test_polling_source import TOLD, port_of

READS = {"a": (0, 1), "b": (1, 2)}
"""Member → partitions of `orders`: two read partition 1."""


def answer(versions: tuple[int, int], frame: bytes) -> list[bytes]:
    """What a broker with these versions of ShareGroupDescribe says."""
    start = request_start(frame)
    if start.api_key == API_VERSIONS_KEY:
        module = shapes(API_VERSIONS_KEY, 3, "response")
        offered = ((API_VERSIONS_KEY, 0, 3), (ApiKey.SHARE_GROUP_DESCRIBE, *versions))
        keys = tuple(module.ApiVersion(api_key=key, min_version=low, max_version=high) for key, low, high in offered)
        return encode_response(shaped(module.ApiVersionsResponse, **TOLD, api_keys=keys), start.correlation_id)
    assert (start.api_key, start.version) == (ApiKey.SHARE_GROUP_DESCRIBE, versions[1])
    module = shapes(ApiKey.SHARE_GROUP_DESCRIBE, 0, "response")
    members = tuple(
        module.Member(
            member_id=name,
            member_epoch=3,
            client_id="c",
            client_host="/127.0.0.1",
            subscribed_topic_names=("orders",),
            assignment=module.Assignment(
                topic_partitions=(module.TopicPartitions(topic_id=UUID(int=7), topic_name="orders", partitions=reads),)
            ),
        )
        for name, reads in READS.items()
    )
    facts = {"group_state": "Stable", "group_epoch": 4, "assignment_epoch": 4, "assignor_name": "simple"}
    group = module.DescribedGroup(error_code=ErrorCode.none, group_id="sharers", members=members, **facts)
    response = module.ShareGroupDescribeResponse(throttle_time=TOLD["throttle_time"], groups=(group,))
    return encode_response(response, start.correlation_id)


@pytest.mark.parametrize("versions", [(0, 0), (1, 1)], ids=["4.0", "4.1"])
async def test_members_and_what_they_read_are_told(versions: tuple[int, int]) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (frame := await read_frame(reader)) is not None:
            await write_frame(writer, *answer(versions, frame))

    async with port_of(serve) as port:
        client = ReadingClient([("127.0.0.1", port)], "test", 60)
        try:
            address = ("127.0.0.1", port)
            response = await client.ask_at(address, lambda one: describe_groups(one, SHARE, ["sharers"]))
        finally:
            await client.close()
    ((name, told),) = described_groups(response, 1, SHARE)
    assert (name, told and told.state, told and told.owners) == ("sharers", "Stable", {})
    assert told is not None
    assert {member: [read.partition for read in facts.reads] for member, facts in told.members.items()} == {
        "a": [0, 1],
        "b": [1, 2],
    }
    group = GroupImage("sharers", told.members, kind=SHARE)
    assert group_of("sharers", group_document("sharers", group)) == group


def test_what_no_broker_offers_is_not_sent() -> None:
    assert later_version(ApiKey.SHARE_GROUP_DESCRIBE, (1, 1)) == 1
    assert later_version(ApiKey.SHARE_GROUP_DESCRIBE, (0, 0)) is None
    assert later_version(ApiKey.SHARE_GROUP_DESCRIBE, None) is None


def test_a_partition_with_several_readers_counts_once_and_who_reads_nothing_is_idle() -> None:
    orders = tuple(TopicPartition("orders", number) for number in range(3))
    members = {"a": Member({"orders": 1}, reads=orders[:2]), "b": Member({"orders": 1}, reads=orders[1:])}
    counts = group_counts(GroupImage("g", {**members, "c": Member({"orders": 1})}, kind=SHARE), EMPTY)
    assert (counts.members, counts.owned, counts.idle_threads, counts.topics) == (3, 3, 1, 1)
