"""The coordinator as its clients see it, over a socket, in every version that it announces."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from model.cluster.ids import OFFSETS_TOPIC
from model.hosts.memory_zookeeper.state import answer, new_server, open_session
from model.hosts.wire.messages import shaped, shapes
from model.zookeeper import Answer, GetData, SetData, ZooKeeperRequest
from tests.model.consumers.group_coordinator.traces import assignment
from tests.model.hosts.live_broker.groups.asking import Broker, broker, timed
from tests.model.hosts.live_broker.groups.log_in_memory import LogsInMemory

SHARE = assignment("orders", 0, 1)


async def only_member(here: Broker, version: int = 3, **values: Any) -> str:
    """A stable group of one member; its id."""
    joined = await here.join(version, **values)
    member: str = joined.member_id
    await here.sync(3, generation_id=joined.generation_id, member_id=member, shares={member: SHARE})
    return member


@pytest.mark.parametrize("version", range(10))
async def test_join_sync_and_heartbeat_in_every_version(version: int) -> None:
    async with broker() as here:
        joined = await here.join(version)
        if version >= 4:
            assert joined.error_code.name == "member_id_required"
            assert joined.member_id.startswith("client-")
            joined = await here.join(version, joined.member_id)
        assert (joined.error_code.name, joined.generation_id, joined.protocol_name) == ("none", 1, "range")
        assert [each.member_id for each in joined.members] == [joined.leader] == [joined.member_id]
        member, older = joined.member_id, min(version, 4)
        synced = await here.sync(min(version, 5), generation_id=1, member_id=member, shares={member: SHARE})
        assert synced.assignment == SHARE
        alive = {"group_id": "g", "generation_id": 1, "member_id": member, "group_instance_id": None}
        assert (await here.ask(12, older, **alive)).error_code.name == "none"
        assert (await here.ask(12, older, **(alive | {"generation_id": 7}))).error_code.name == "illegal_generation"


@pytest.mark.parametrize("version", range(6))
async def test_leaving_in_every_version(version: int) -> None:
    async with broker() as here:
        member = await only_member(here)
        identity = {"member_id": member, "group_instance_id": None, "reason": "done"}
        if version < 3:
            response = await here.ask(13, version, group_id="g", **identity)
        else:
            leaving = shaped(shapes(13, version, "request").MemberIdentity, **identity)
            response = await here.ask(13, version, group_id="g", members=(leaving,))
            assert [each.error_code.name for each in response.members] == ["none"]
        assert response.error_code.name == "none"
        assert here.coordinator.groups["g"].members == {}


async def test_two_members_share_and_one_goes() -> None:
    async with broker() as here:
        first = await only_member(here)
        joining = asyncio.create_task(here.join(3))
        while here.coordinator.groups["g"].state != "PreparingRebalance":
            await asyncio.sleep(0)
        again, second = await asyncio.gather(here.join(3, first), joining)
        assert again.generation_id == second.generation_id == 2
        shares = {first: assignment("orders", 0), second.member_id: assignment("orders", 1)}
        synced = await asyncio.gather(
            here.sync(generation_id=2, member_id=second.member_id),
            here.sync(generation_id=2, member_id=first, shares=shares),
        )
        assert [each.assignment for each in synced] == [shares[second.member_id], shares[first]]
        left = await here.ask(13, 2, group_id="g", member_id=first)
        assert left.error_code.name == "none"
        assert here.coordinator.groups["g"].rebalance is not None


@pytest.mark.parametrize("version", range(1, 10))
async def test_offsets_in_every_version(version: int) -> None:
    async with broker() as here:
        errors = await here.commit({("orders", 1): 42, ("orders", 9): 1, ("nowhere", 0): 1}, version)
        unknown = "unknown_topic_or_partition"
        assert errors == {("orders", 1): "none", ("orders", 9): unknown, ("nowhere", 0): unknown}
        topic = {"name": "orders", "partition_indexes": (1, 2)}
        module = shapes(9, version, "request")
        if version >= 8:
            topics = (module.OffsetFetchRequestTopics(**topic),)
            extra = {"member_id": None, "member_epoch": -1} if version >= 9 else {}
            groups = (module.OffsetFetchRequestGroup(group_id="g", topics=topics, **extra),)
            response = await here.ask(9, version, groups=groups, require_stable=True)
            (fetched,) = response.groups
        else:
            topics = (module.OffsetFetchRequestTopic(**topic),)
            fetched = await here.ask(9, version, group_id="g", topics=topics, require_stable=True)
        found = [(each.committed_offset, each.metadata) for each in fetched.topics[0].partitions]
        assert found == [(42, "m"), (-1, "")]
        assert await here.fetch() == {("orders", 1): 42}


async def test_offsets_of_several_groups_and_who_keeps_no_others() -> None:
    async with broker(leads=False) as here:
        assert await here.commit({("orders", 1): 42}) == {("orders", 1): "not_coordinator"}
        response = await here.ask(9, 7, group_id="g", topics=None, require_stable=False)
        assert response.error_code.name == "not_coordinator"
        module = shapes(9, 1, "request")
        topics = (module.OffsetFetchRequestTopic(name="orders", partition_indexes=(1,)),)
        old = await here.ask(9, 1, group_id="g", topics=topics)
        assert old.topics[0].partitions[0].error_code.name == "not_coordinator"


@pytest.mark.parametrize("version", range(6))
async def test_operators_see_groups(version: int) -> None:
    async with broker() as here:
        member = await only_member(here)
        described = await here.ask(15, version, groups=("g", "gone"), include_authorized_operations=True)
        first, second = described.groups
        assert (first.group_state, first.protocol_type, first.protocol_data) == ("Stable", "consumer", "range")
        assert [(each.member_id, each.client_host) for each in first.members] == [(member, "/127.0.0.1")]
        assert first.members[0].member_assignment == SHARE
        assert (second.error_code.name, second.group_state) == ("none", "Dead")
        if version >= 3:
            assert first.authorized_operations == 0b1_0100_1000  # as 3.9.1 says
        listed = await here.ask(16, version, states_filter=(), types_filter=())
        assert [each.group_id for each in listed.groups] == ["g"]


async def test_lists_can_be_filtered() -> None:
    async with broker() as here:
        await only_member(here)
        await here.commit({("orders", 0): 1}, group="simple")
        for states, types, expected in (
            (("stable",), (), ["g"]),
            (("Empty",), ("Classic",), ["simple"]),
            ((), ("consumer",), []),
        ):
            listed = await here.ask(16, 5, states_filter=states, types_filter=types)
            assert [each.group_id for each in listed.groups] == expected


@pytest.mark.parametrize("version", range(3))
async def test_operators_delete_groups(version: int) -> None:
    async with broker() as here:
        await only_member(here)
        await here.commit({("orders", 0): 1}, group="simple")
        deleted = await here.ask(42, version, groups_names=("g", "simple", "gone"))
        errors = {each.group_id: each.error_code.name for each in deleted.results}
        assert errors == {"g": "non_empty_group", "simple": "none", "gone": "group_id_not_found"}
        assert list(here.coordinator.groups) == ["g"]


async def test_operators_delete_offsets() -> None:
    async with broker() as here:
        await here.commit({("orders", 0): 1, ("payments", 0): 2})
        module = shapes(47, 0, "request")
        part = module.OffsetDeleteRequestPartition
        topics = (
            module.OffsetDeleteRequestTopic(name="orders", partitions=(part(partition_index=0),)),
            module.OffsetDeleteRequestTopic(name="nowhere", partitions=(part(partition_index=3),)),
        )
        response = await here.ask(47, 0, group_id="g", topics=topics)
        errors = {topic.name: topic.partitions[0].error_code.name for topic in response.topics}
        assert errors == {"orders": "none", "nowhere": "unknown_topic_or_partition"}
        assert await here.fetch() == {("payments", 0): 2}
        gone = await here.ask(47, 0, group_id="gone", topics=topics)
        assert gone.error_code.name == "group_id_not_found"


@pytest.mark.parametrize("version", range(7))
async def test_finding_the_coordinator(version: int) -> None:
    async with broker(listener="INSIDE") as here:
        if version < 4:
            found = await here.ask(10, version, key="g", key_type=0)
        else:
            (found,) = (await here.ask(10, version, key_type=0, coordinator_keys=("g",))).coordinators
            assert found.key == "g"
        assert (found.error_code.name, found.node_id, found.host, found.port) == ("none", 1, "10.0.0.1", 9093)


async def test_the_offsets_topic_is_made_when_first_asked_for() -> None:
    made: list[str] = []
    logs = LogsInMemory()
    logs.learn({"orders": 4})

    async def make(name: str) -> str:
        made.append(name)
        logs.learn({"orders": 4, OFFSETS_TOPIC: 2})
        return "LEADER_NOT_AVAILABLE"

    async with broker(logs, create_topic=make) as here:
        found = await here.ask(10, 3, key="g", key_type=0)
        assert found.error_code.name == "coordinator_not_available"
        found = await here.ask(10, 3, key="g", key_type=0)
        assert (found.error_code.name, made) == ("none", [OFFSETS_TOPIC])
        transactional = await here.ask(10, 3, key="t", key_type=1)
        assert transactional.error_code.name == "invalid_request"


async def test_names_that_are_needed() -> None:
    async with broker() as here:
        assert (await here.join(group="")).error_code.name == "invalid_group_id"
        assert await here.commit({("orders", 0): 1}, group="") == {("orders", 0): "none"}
        nameless = await here.sync(5, generation_id=1, member_id="m", protocol_name=None)
        assert nameless.error_code.name == "inconsistent_group_protocol"


async def test_a_member_that_falls_silent_is_dropped_in_time() -> None:
    async with broker(given={"group.initial.rebalance.delay.ms": 0, "group.min.session.timeout.ms": 1}) as here:
        await only_member(here, session_timeout=timed(50))
        while here.coordinator.groups["g"].members:
            await asyncio.sleep(0.01)
        assert here.coordinator.groups["g"].past[-1].why.endswith("(session timed out)")


class ZooKeeperInMemory:
    """Asks a server in memory that has nothing but /consumers."""

    def __init__(self) -> None:
        self._state, self._session = open_session(new_server(), 10_000)

    async def __call__(self, requests: Sequence[ZooKeeperRequest]) -> tuple[Answer, ...]:
        return tuple(map(self.ask, requests))

    def ask(self, request: ZooKeeperRequest) -> Answer:
        answered = answer(self._state, self._session, request, 0)
        self._state = answered.state
        return answered.answer

    def data(self, path: str) -> bytes:
        return self.ask(GetData(path)).data


async def old_offset(here: Broker, version: int = 0, topic: str = "orders", number: int = 0) -> tuple[int, str, str]:
    """What OffsetFetch says: offset, metadata, error."""
    wanted = shapes(9, version, "request").OffsetFetchRequestTopic(name=topic, partition_indexes=(number,))
    response = await here.ask(9, version, group_id="g", topics=(wanted,))
    (found,) = response.topics[0].partitions
    return found.committed_offset, found.metadata, found.error_code.name


async def test_version_0_keeps_offsets_in_zookeeper() -> None:
    zookeeper = ZooKeeperInMemory()
    async with broker(zookeeper=zookeeper, leads=False) as here:
        assert await old_offset(here) == (-1, "", "unknown_topic_or_partition")
        for offset in (42, 43):
            assert await here.commit({("orders", 0): offset}, version=0) == {("orders", 0): "none"}
            assert zookeeper.data("/consumers/g/offsets/orders/0") == b"%d" % offset
            assert await old_offset(here) == (offset, "", "none")
        nowhere = {("nowhere", 0): "unknown_topic_or_partition", ("orders", 1): "none"}
        assert await here.commit({("nowhere", 0): 1, ("orders", 1): 7}, version=0) == nowhere
        assert await old_offset(here, topic="nowhere") == (-1, "", "unknown_topic_or_partition")
        for text in (b"forty", b" 42", b"4_2", b"", b"9223372036854775808"):
            zookeeper.ask(SetData("/consumers/g/offsets/orders/0", text))
            assert await old_offset(here) == (-1, "", "unknown_server_error"), text
    async with broker(zookeeper=zookeeper) as here:
        assert await old_offset(here, version=1) == (-1, "", "none")


async def test_metadata_of_offsets_in_zookeeper_is_bounded_and_then_lost() -> None:
    zookeeper = ZooKeeperInMemory()
    async with broker(zookeeper=zookeeper) as here:
        module = shapes(8, 0, "request")
        for length, error in ((4096, "none"), (4097, "offset_metadata_too_large")):
            part = module.OffsetCommitRequestPartition(
                partition_index=0, committed_offset=length, committed_metadata="m" * length
            )
            topic = module.OffsetCommitRequestTopic(name="orders", partitions=(part,))
            response = await here.ask(8, 0, group_id="g", topics=(topic,))
            assert response.topics[0].partitions[0].error_code.name == error
        assert await old_offset(here) == (4096, "", "none")
