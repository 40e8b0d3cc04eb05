"""Rules of consumer groups are broken on purpose, and histories notice: the checks can fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from model.consumers.assignors.strategies import strategy_named
from model.consumers.group_coordinator import coordinate, rebalancing, stored_groups
from model.consumers.group_coordinator.events_and_commands import GroupDecision, TimePassed
from model.consumers.group_coordinator.group import Group
from model.consumers.group_coordinator.stored_groups import LoadedRecords
from model.consumers.zookeeper_groups import claiming, consume, releasing
from model.consumers.zookeeper_groups.events_and_commands import MemberDecision
from model.consumers.zookeeper_groups.member_state import MemberStage, MemberState
from model.hosts.live_broker.offsets_log import LedPartitions, OffsetsLog
from model.znodes.consumers import ConsumerOffset
from tests.simulation.groups import protocol
from tests.simulation.groups.play import ZOOKEEPER_EVERY, play
from tests.simulation.violation import ViolationError, play_all

SEEDS = 300


def commits_of_any_generation(patch: pytest.MonkeyPatch) -> None:
    """Whoever once was a member may commit."""
    check = stored_groups.commit_error
    patch.setattr(stored_groups, "commit_error", lambda group, asked: None if asked.member_id else check(group, asked))


def failovers_that_forget_offsets(patch: pytest.MonkeyPatch) -> None:
    """The next coordinator knows members, and begins with no offsets."""
    load = LoadedRecords.groups
    patch.setattr(LoadedRecords, "groups", lambda self, at_ms: [replace(g, offsets={}) for g in load(self, at_ms)])


def failovers_that_forget_generations(patch: pytest.MonkeyPatch) -> None:
    """The next coordinator begins with generation 1."""
    load = LoadedRecords.groups

    def anew(self: LoadedRecords, at_ms: int) -> list[Group]:
        return [Group(group.group_id, offsets=group.offsets) for group in load(self, at_ms)]

    patch.setattr(LoadedRecords, "groups", anew)


def answers_before_replication(patch: pytest.MonkeyPatch) -> None:
    """The coordinator does not wait for its followers."""
    append = OffsetsLog.append
    patch.setattr(OffsetsLog, "append", lambda self, name, records, wait: append(self, name, records, wait=False))


def coordinators_that_never_resign(patch: pytest.MonkeyPatch) -> None:
    """Another one leads, and the old one goes on."""
    patch.setattr(LedPartitions, "give_up", lambda _self, _partition: None)


def syncs_that_nobody_answers(patch: pytest.MonkeyPatch) -> None:
    """A rebalance begins while others wait for their share."""
    patch.setattr(rebalancing, "refuse_syncs", lambda group, _error, _at_ms: GroupDecision(group))


def sessions_without_end(patch: pytest.MonkeyPatch) -> None:
    """The dead are waited for."""

    def awake(group: Group, event: TimePassed, settings: Any) -> GroupDecision:
        living = {name: each.renewed(event.at_ms) for name, each in group.members.items()}
        return pass_time(replace(group, members=living), event, settings)

    table: Any = coordinate._TABLE
    pass_time = table[TimePassed]
    patch.setattr(coordinate, "_TABLE", {**table, TimePassed: awake})


def offsets_that_expire_at_once(patch: pytest.MonkeyPatch) -> None:
    """Whatever a group without members has, goes."""
    patch.setattr(stored_groups, "_is_expired", lambda *_: True)


def generations_that_stay(patch: pytest.MonkeyPatch) -> None:
    """Every assignment is of generation 1."""
    store = rebalancing.group_record
    patch.setattr(rebalancing, "group_record", lambda group, shares: store(replace(group, generation=1), shares))


def partitions_given_before_they_are_given_up(patch: pytest.MonkeyPatch) -> None:
    """A cooperative leader that hands out everything in the first rebalance."""
    patch.setattr(protocol, "strategy_named", lambda name: strategy_named(name.removeprefix("cooperative-")))


def claims_of_what_others_own(patch: pytest.MonkeyPatch) -> None:
    """An owner znode that exists is nobody's business."""

    def careless(member: MemberState, _answers: Any, _at_ms: int) -> MemberDecision:
        return claiming._read_offsets(member)

    patch.setitem(consume._ANSWERS, MemberStage.CHECKING_CLAIMS, careless)  # pyright: ignore[reportArgumentType]


def releases_without_commits(patch: pytest.MonkeyPatch) -> None:
    """Partitions are let go, and where they were left is not told."""
    patch.setattr(releasing, "due", lambda _member: {})


def claims_that_begin_anew(patch: pytest.MonkeyPatch) -> None:
    """Whoever owns a partition begins at its start."""
    patch.setattr(claiming, "decode_offset", lambda _data: ConsumerOffset(0))


COORDINATED: tuple[Callable[[pytest.MonkeyPatch], None], ...] = (
    commits_of_any_generation,
    failovers_that_forget_offsets,
    failovers_that_forget_generations,
    answers_before_replication,
    coordinators_that_never_resign,
    syncs_that_nobody_answers,
    sessions_without_end,
    offsets_that_expire_at_once,
    generations_that_stay,
    partitions_given_before_they_are_given_up,
)
OF_ZOOKEEPER = (claims_of_what_others_own, releases_without_commits, claims_that_begin_anew)


@pytest.mark.parametrize("break_a_rule", [*COORDINATED, *OF_ZOOKEEPER])
def test_a_broken_rule_is_noticed(
    break_a_rule: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    is_zookeeper = break_a_rule in OF_ZOOKEEPER
    seeds = [seed for seed in range(SEEDS) if (seed % ZOOKEEPER_EVERY == 0) == is_zookeeper]
    break_a_rule(monkeypatch)
    with pytest.raises(ViolationError, match=r"^seed \d+, at "):
        play_all(play, seeds)
