"""The coordinator's host: what it loads, when it gives groups up, and what it does while the log does not answer."""

from __future__ import annotations

import asyncio

import pytest

from model.cluster.ids import OFFSETS_TOPIC, TopicPartition
from model.consumers.group_coordinator.group import GroupState
from tests.harness.waiting import eventually_async
from tests.model.consumers.group_coordinator.traces import assignment
from tests.model.hosts.live_broker.groups.asking import Broker, broker
from tests.model.hosts.live_broker.groups.log_in_memory import LogsInMemory

SHARE = assignment("orders", 0, 1)


async def stable_member(here: Broker) -> str:
    """A group with one member; its id."""
    joined = await here.join(3)
    member: str = joined.member_id
    await here.sync(generation_id=joined.generation_id, member_id=member, shares={member: SHARE})
    return member


def home(here: Broker) -> TopicPartition:
    return TopicPartition(OFFSETS_TOPIC, here.coordinator.partition_of("g"))


async def heartbeat(here: Broker, member: str, generation: int = 1) -> str:
    values = {"group_id": "g", "generation_id": generation, "member_id": member, "group_instance_id": None}
    return (await here.ask(12, 4, **values)).error_code.name


async def test_a_group_goes_on_with_the_next_coordinator() -> None:
    logs = LogsInMemory()
    async with broker(logs) as here:
        member = await stable_member(here)
        await here.commit({("orders", 1): 42}, generation_id_or_member_epoch=1, member_id=member)
        await here.commit({("orders", 0): 7}, group="simple")
    async with broker(logs) as here:
        await eventually_async(lambda: not here.coordinator.is_loading)
        assert await heartbeat(here, member) == "none"
        assert (await here.sync(generation_id=1, member_id=member)).assignment == SHARE
        assert await here.fetch() == {("orders", 1): 42}
        assert await here.fetch("simple") == {("orders", 0): 7}
        assert here.coordinator.groups["g"].state is GroupState.STABLE


async def test_what_is_deleted_stays_deleted() -> None:
    logs = LogsInMemory()
    async with broker(logs) as here:
        member = await stable_member(here)
        await here.commit({("orders", 1): 42}, generation_id_or_member_epoch=1, member_id=member)
        await here.ask(13, 2, group_id="g", member_id=member)
        deleted = await here.ask(42, 2, groups_names=("g",))
        assert deleted.results[0].error_code.name == "none"
    async with broker(logs) as here:
        await eventually_async(lambda: not here.coordinator.is_loading)
        assert here.coordinator.groups == {}


async def test_while_groups_are_loaded_members_are_put_off() -> None:
    logs = LogsInMemory()
    async with broker(logs) as here:
        member = await stable_member(here)
    logs.endless = True
    async with broker(logs) as here:
        assert (await here.join()).error_code.name == "coordinator_load_in_progress"
        assert (await here.sync(generation_id=1, member_id=member)).error_code.name == "rebalance_in_progress"
        assert await heartbeat(here, member) == "none"
        assert await here.commit({("orders", 1): 1}) == {("orders", 1): "coordinator_load_in_progress"}
        assert (await here.ask(16, 4, states_filter=())).error_code.name == "coordinator_load_in_progress"
        logs.endless = False
        await eventually_async(lambda: not here.coordinator.is_loading)
        assert await heartbeat(here, member) == "none"
        assert (await here.sync(generation_id=1, member_id=member)).assignment == SHARE


async def test_a_coordinator_that_resigns_tells_all_that_wait() -> None:
    async with broker() as here:
        member = await stable_member(here)
        joining = asyncio.create_task(here.join(3))
        here.logs.may_answer.clear()
        committing = asyncio.create_task(
            here.commit({("orders", 1): 1}, generation_id_or_member_epoch=1, member_id=member)
        )
        await eventually_async(
            lambda: len(here.coordinator.groups["g"].members) == 2 and here.coordinator.groups["g"].writes
        )
        here.coordinator.on_leadership(home(here), False, 1)
        assert (await joining).error_code.name == "not_coordinator"
        assert await committing == {("orders", 1): "not_coordinator"}
        assert await heartbeat(here, member) == "not_coordinator"
        here.logs.may_answer.set()
        assert "g" not in here.coordinator.groups


async def test_words_of_an_older_leader_epoch_are_not_heeded() -> None:
    async with broker() as here:
        member = await stable_member(here)
        here.coordinator.on_leadership(home(here), True, 5)
        here.coordinator.on_leadership(home(here), False, 4)
        assert await heartbeat(here, member) == "none"
        here.coordinator.on_leadership(home(here), False, 5)
        assert await heartbeat(here, member) == "not_coordinator"


async def test_a_log_that_cannot_be_read_makes_no_coordinator(caplog: pytest.LogCaptureFixture) -> None:
    logs = LogsInMemory()
    async with broker(logs) as here:
        await stable_member(here)
    logs.may_read = False
    async with broker(logs) as here:
        await eventually_async(lambda: not here.coordinator.is_loading)
        assert (await here.join()).error_code.name == "not_coordinator"
    assert "cannot be read" in caplog.text


async def test_a_log_without_enough_replicas_refuses_commits_and_assignments() -> None:
    async with broker() as here:
        member = await stable_member(here)
        here.logs.error = "NOT_ENOUGH_REPLICAS"
        errors = await here.commit({("orders", 1): 1}, generation_id_or_member_epoch=1, member_id=member)
        assert errors == {("orders", 1): "coordinator_not_available"}
        again = await here.join(3, member)
        refused = await here.sync(generation_id=again.generation_id, member_id=member, shares={member: SHARE})
        assert refused.error_code.name == "coordinator_not_available"
        here.logs.error = "NONE"
        again = await here.join(3, member)
        synced = await here.sync(generation_id=again.generation_id, member_id=member, shares={member: SHARE})
        assert (synced.error_code.name, synced.assignment) == ("none", SHARE)


async def test_offsets_go_with_their_topic() -> None:
    async with broker() as here:
        await here.commit({("orders", 1): 42, ("payments", 0): 1})
        here.coordinator.on_forgotten(TopicPartition("orders", 1))
        here.coordinator.on_forgotten(TopicPartition("orders", 2))
        assert await here.fetch() == {("payments", 0): 1}


async def test_offsets_expire() -> None:
    given = {"offsets.retention.minutes": 1, "offsets.retention.check.interval.ms": 5}
    async with broker(given=given) as here:
        await here.commit({("orders", 1): 42})
        now_ms = here.coordinator.now_ms
        here.coordinator.now_ms = lambda: now_ms() + 60_000
        await eventually_async(lambda: not here.coordinator.groups)


async def test_a_closed_coordinator_is_available_to_nobody() -> None:
    async with broker() as here:
        await stable_member(here)
        joining = asyncio.create_task(here.join(3))
        await eventually_async(lambda: len(here.coordinator.groups["g"].members) == 2)
        await here.coordinator.close()
        assert (await joining).error_code.name == "not_coordinator"
        assert (await here.join()).error_code.name == "coordinator_not_available"
        assert (await here.ask(16, 4, states_filter=())).error_code.name == "coordinator_not_available"
