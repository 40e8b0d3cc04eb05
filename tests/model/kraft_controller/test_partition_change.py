"""One change of one partition, as the real PartitionChangeBuilder of 3.3.2 to 4.4.0 makes it: worked cases.

R replicas, I ISR, E ELR, K last known ELR, l leader, rm and ad removing and adding, RS recovering.
"""

from __future__ import annotations

from typing import Any

import pytest

from model.kraft_controller.partition_change import (
    HIGHEST_LEVELS,
    Election,
    Levels,
    PartitionChange,
    Registration,
    RequestedChange,
    applied,
    change_of,
)

FIELDS = {"l": "leader", "I": "isr", "R": "replicas", "rm": "removing", "ad": "adding", "E": "elr",
          "K": "last_known_elr", "RS": "recovering"}  # fmt: skip
ALL = range(100)
UNCLEAN, PREFERRED, ONLINE = Election.UNCLEAN, Election.PREFERRED, Election.ONLINE
RELEASES = tuple(HIGHEST_LEVELS)
ELR_RELEASES = tuple(each for each in RELEASES if each >= (4, 0))


def state(**fields: Any) -> Registration:
    """R [1,2,3], all in sync, led by 1, unless said."""
    return Registration(**{"replicas": (1, 2, 3), "isr": (1, 2, 3), "leader": 1} | named(fields))


def named(fields: dict[str, Any]) -> dict[str, Any]:
    lists = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
    return {FIELDS.get(name, name): value for name, value in lists.items()}


def made(before: Registration, asked: dict[str, Any], levels: Levels, least: int) -> PartitionChange | None:
    live = asked.pop("live", ALL)
    change = change_of(before, RequestedChange(**named(asked)), levels, lambda broker: broker in live, least)
    return None if change is None else change.record


def record(fields: dict[str, Any] | None) -> PartitionChange | None:
    return None if fields is None else PartitionChange(**named(fields))


def kept(**fields: Any) -> dict[str, Any]:
    return fields


MOVE = kept(R=[2, 3, 4, 1], rm=[1], ad=[4])
"""1 → 4 under way."""
MANY = kept(R=[2, 3, 4, 5, 0, 1], rm=[0, 1], ad=[5])
DONE = kept(rm=[], ad=[])
WITHOUT_ELR: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any] | None]] = [
    ("A2", {}, kept(I=[2, 3], live=[2, 3]), kept(l=2, I=[2, 3])),
    ("A3", kept(I=[1, 2]), kept(I=[1, 2, 3]), kept(I=[1, 2, 3])),
    ("A5", {}, kept(I=[3, 2, 1]), kept(I=[3, 2, 1])),
    ("A6", kept(I=[1]), kept(I=[], live=[2, 3]), kept(l=-1)),
    ("A7", kept(I=[1]), kept(I=[], live=[2, 3], election=UNCLEAN), kept(l=2, I=[2], RS=True)),
    ("A7 b", kept(I=[1]), kept(I=[], live=[3], election=UNCLEAN), kept(l=3, I=[3], RS=True)),
    ("A8", kept(I=[1], RS=True), kept(I=[], live=[2, 3], election=UNCLEAN), kept(l=2, I=[2])),
    ("A9", kept(I=[1], l=-1), kept(live=[3], election=UNCLEAN), kept(l=3, I=[3], RS=True)),
    ("A9 b", kept(I=[1], l=-1), kept(live=[3]), None),
    ("A9 c", kept(I=[1], l=-1), kept(live=[], election=UNCLEAN), None),
    ("A10", kept(I=[1, 3]), kept(live=[2, 3], election=UNCLEAN), kept(l=3)),
    ("A11", kept(R=[3, 1, 2], I=[2, 1, 3], l=3), kept(I=[2, 1], live=[1, 2]), kept(l=1, I=[2, 1])),
    ("A12", {}, kept(I=[2, 3], live=[]), kept(l=-1, I=[2, 3])),
    ("A14", kept(I=[2, 3, 1], l=2), kept(election=PREFERRED), kept(l=1)),
    ("A14 b", kept(I=[2, 3, 1], l=2), kept(election=ONLINE), None),
    ("A15", kept(I=[2, 3], l=2), kept(election=PREFERRED), None),
    ("A16", kept(I=[2, 3], l=2), kept(election=PREFERRED, live=[1, 3]), kept(l=3)),
    ("A17", kept(I=[2], l=2), kept(election=PREFERRED, live=[1, 3]), kept(l=-1)),
    ("A18", kept(I=[3], l=-1), kept(election=PREFERRED), kept(l=3)),
    ("A19", kept(I=[1], RS=True), kept(I=[1, 2], RS=False), kept(I=[1, 2], RS=False)),
    ("A20", kept(I=[1], l=-1, RS=True), kept(live=[1]), kept(l=1)),
    ("A22", {}, kept(R=[2, 1, 3]), kept(R=[2, 1, 3])),
    ("A23", {}, kept(R=[1, 2], I=[1, 2]), kept(l=1, I=[1, 2], R=[1, 2])),
    ("A24", {}, MOVE, MOVE),
    ("A25", MOVE, kept(I=[1, 2, 3, 4]), kept(l=2, I=[2, 3, 4], R=[2, 3, 4], **DONE)),
    ("A26", MOVE | kept(l=2, I=[2, 3, 1]), kept(I=[2, 3, 1, 4]), kept(l=2, I=[2, 3, 4], R=[2, 3, 4], **DONE)),
    ("A29", MANY | kept(I=[0, 1], l=0), kept(I=[0, 1, 5, 2, 3, 4]), kept(l=2, I=[5, 2, 3, 4], R=[2, 3, 4, 5], **DONE)),
    ("A32", MOVE, kept(R=[2, 3, 1], I=[1, 2, 3], **DONE), kept(l=1, R=[2, 3, 1], **DONE)),
    ("A33", MOVE | kept(I=[4], l=4), kept(R=[2, 3, 1], I=[2], election=UNCLEAN, **DONE),
     kept(l=2, I=[2], R=[2, 3, 1], **DONE)),
    ("A33 b", MOVE | kept(I=[4], l=4), kept(R=[2, 3, 1], I=[2], election=UNCLEAN, live=[1, 3], **DONE),
     kept(l=3, I=[3], R=[2, 3, 1], RS=True, **DONE)),
    ("A35", {}, {}, None),
    ("A36", kept(R=[3, 4, 1, 2], rm=[1, 2], ad=[3, 4], I=[1, 2]), kept(I=[1, 2, 3, 4], live=[1, 2]),
     kept(l=-1, I=[3, 4], R=[3, 4], **DONE)),
    ("A36 b", kept(R=[3, 4, 1, 2], rm=[1, 2], ad=[3, 4], I=[1, 2]),
     kept(I=[1, 2, 3, 4], live=[1, 2], election=UNCLEAN), kept(l=-1, I=[3, 4], R=[3, 4], **DONE)),
]  # fmt: skip


@pytest.mark.parametrize("release", [each for each in RELEASES if each >= (3, 6)])
@pytest.mark.parametrize(("name", "before", "asked", "expected"), WITHOUT_ELR, ids=[each[0] for each in WITHOUT_ELR])
def test_without_elr(
    name: str, before: dict[str, Any], asked: dict[str, Any], expected: Any, release: tuple[int, int]
) -> None:
    assert made(state(**before), dict(asked), Levels(release, HIGHEST_LEVELS[release]), 1) == record(expected)


@pytest.mark.parametrize("release", RELEASES)
def test_followers_that_leave_raise_the_leader_epoch_until_3_6(release: tuple[int, int]) -> None:
    shrunk, grown_and_shrunk = kept(I=[1, 2]), kept(I=[1, 2, 4])
    for level in {7, HIGHEST_LEVELS[release]}:
        levels = Levels(release, level)
        raised = level <= 11 or release <= (3, 5)
        again = kept(l=1) if raised else {}
        assert made(state(), dict(shrunk), levels, 1) == record(again | shrunk)
        assert made(state(R=[1, 2, 3, 4], I=[1, 2, 3]), dict(grown_and_shrunk), levels, 1) == record(
            again | grown_and_shrunk
        )
        leaderless = state(I=[2, 3], l=-1)
        lost = kept(l=-1) if raised else {}
        assert made(leaderless, kept(I=[3], live=[]), levels, 1) == record(lost | kept(I=[3]))


REASSIGNED: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any] | None, dict[str, Any] | None, str]] = [
    ("A27", MOVE | kept(I=[1]), kept(I=[1, 4]), kept(l=4, I=[4], R=[2, 3, 4], **DONE), kept(I=[1, 4]), "old new"),
    ("A28", MANY | kept(I=[0, 1], l=0), kept(I=[0, 1, 5]), kept(l=5, I=[5], R=[2, 3, 4, 5], **DONE),
     kept(I=[0, 1, 5]), "old"),
    ("A30", kept(R=[2, 3, 1], rm=[1], I=[1, 2]), {}, kept(l=2, I=[2], R=[2, 3], rm=[]), None, "old"),
    ("A31", kept(R=[2, 3, 1], rm=[1], I=[1, 2]), kept(I=[2], live=[2, 3]), kept(l=2, I=[2], R=[2, 3], rm=[]),
     kept(l=2, I=[2]), "old"),
]  # fmt: skip


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("name", "before", "asked", "done", "waits", "when"), REASSIGNED, ids=[each[0] for each in REASSIGNED]
)
def test_when_a_reassignment_is_complete(
    name: str, before: dict[str, Any], asked: dict[str, Any], done: Any, waits: Any, when: str, release: tuple[int, int]
) -> None:
    era = "old" if release < (3, 8) else "new" if release >= (4, 3) else "between"
    expected = done if era in when.split() else waits
    assert made(state(**before), dict(asked), Levels(release, HIGHEST_LEVELS[release]), 1) == record(expected), name


GONE = kept(I=[], l=-1)
WITH_ELR: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any] | None]] = [
    ("B1", {}, kept(I=[1, 2]), kept(I=[1, 2])),
    ("B1 min 3", {}, kept(I=[1, 2]), kept(I=[1, 2], E=[3])),
    ("B2", kept(I=[1, 2]), kept(I=[1]), kept(I=[1], E=[2])),
    ("B3", kept(I=[1], E=[2]), kept(I=[], live=[3]), kept(l=-1, I=[], E=[1, 2], K=[1])),
    ("B4", GONE | kept(E=[1, 2], K=[1]), kept(live=[2]), kept(l=2, I=[2], E=[1], K=[])),
    ("B5", GONE | kept(E=[1, 2], K=[1]), kept(live=[1]), kept(l=1, I=[1], E=[2], K=[])),
    ("B5 b", GONE | kept(R=[3, 1, 2], E=[1, 2], K=[1]), {}, kept(l=1, I=[1], E=[2], K=[])),
    ("B6", GONE | kept(E=[1, 2], K=[1]), kept(live=[3]), None),
    ("B6 b", GONE | kept(E=[1, 2], K=[1]), kept(live=[3], election=UNCLEAN), kept(l=3, I=[3], E=[], K=[], RS=True)),
    ("B7", kept(I=[2], E=[1], l=2), kept(I=[2, 3]), kept(I=[2, 3], E=[])),
    ("B8 min 3", kept(I=[2], E=[1], l=2), kept(I=[2, 3]), kept(I=[2, 3])),
    ("B9 min 3", kept(I=[2], E=[1, 3], l=2), kept(I=[2, 1]), kept(I=[2, 1], E=[3])),
    ("B10", kept(I=[1], E=[2, 3]), kept(I=[1], stopped_uncleanly=frozenset({2})), kept(E=[3])),
    ("B11", kept(I=[1], E=[2, 3]), kept(I=[], live=[3], stopped_uncleanly=frozenset({1})), kept(l=3, I=[3], E=[2])),
    ("B15", GONE | kept(K=[1]), kept(live=[1]), kept(l=1, I=[1], K=[], RS=True)),
    ("B15 b", GONE | kept(K=[1]), kept(live=[1], election=PREFERRED), kept(l=1, I=[1], K=[], RS=True)),
    ("B15 c", GONE | kept(K=[1], RS=True), kept(live=[1]), kept(l=1, I=[1], K=[])),
    ("B18", GONE | kept(K=[1, 2]), kept(live=[1]), None),
    ("B18 b", GONE | kept(K=[1, 2]), kept(live=[1], election=UNCLEAN), kept(l=1, I=[1], K=[], RS=True)),
    ("B19 min 1", kept(R=[4], I=[4], l=4), kept(I=[], live=[]), kept(l=-1, I=[], E=[4], K=[4])),
    ("B20 min 1", GONE | kept(R=[4], E=[4], K=[4]), kept(live=[4]), kept(l=4, I=[4], E=[], K=[])),
    ("B22 min 1", GONE | kept(R=[1], K=[1]), kept(live=[1]), kept(l=1, I=[1], K=[], RS=True)),
    ("B26", kept(R=[2, 17, 3], I=[2, 17], l=2), kept(I=[], live=[3]), kept(l=-1, I=[], E=[17, 2], K=[2])),
    ("B27 min 3", kept(R=[40, 33, 17, 2, 1], I=[40, 33, 17, 2], l=40), kept(I=[1], live=[1]),
     kept(l=1, I=[1], E=[33, 17, 2, 40])),
    ("B28", GONE | kept(E=[2, 3], K=[3]), kept(live=[1, 3], election=PREFERRED), kept(l=3, I=[3], E=[2], K=[])),
    ("B29 min 3", kept(I=[1, 2]), {}, None),
    ("B29 b min 3", kept(I=[1, 2]), kept(I=[1]), kept(I=[1], E=[2])),
    ("B31", kept(I=[1], E=[2], l=-1), kept(live=[2], election=UNCLEAN), kept(l=2, I=[2], E=[], RS=True)),
    ("B31 b", kept(I=[1], E=[2], l=-1), kept(live=[2]), None),
    ("B32", kept(I=[1], E=[2]), kept(I=[], live=[3], election=UNCLEAN), kept(l=3, I=[3], E=[], RS=True)),
    ("B33", kept(I=[1], E=[2, 3]), kept(I=[], live=[2, 3]), kept(l=2, I=[2], E=[1, 3])),
    ("B34 min 1", kept(I=[1]), kept(I=[], live=[2]), kept(l=-1, I=[], E=[1], K=[1])),
    ("B35", kept(I=[1, 2]), kept(I=[], live=[3], stopped_uncleanly=frozenset({1, 2})), kept(l=-1, I=[], K=[1])),
    ("B36", MOVE | kept(I=[1], E=[2]), kept(I=[1, 4, 3, 2]), kept(l=2, I=[4, 3, 2], E=[], R=[2, 3, 4], **DONE)),
]  # fmt: skip


@pytest.mark.parametrize("release", ELR_RELEASES)
@pytest.mark.parametrize(("name", "before", "asked", "expected"), WITH_ELR, ids=[each[0] for each in WITH_ELR])
def test_with_elr(
    name: str, before: dict[str, Any], asked: dict[str, Any], expected: Any, release: tuple[int, int]
) -> None:
    least = int(name.partition(" min ")[2] or 2)
    assert made(state(**before), dict(asked), Levels(release, 25, elr=True), least) == record(expected)


def test_elr_left_over_elects_where_it_is_kept_no_more() -> None:
    off = Levels((4, 4), 33)
    assert made(state(**GONE, E=[1, 2], K=[1]), kept(live=[2]), off, 2) == record(kept(l=2, I=[2], E=[]))
    assert made(state(I=[1], E=[2]), kept(I=[1, 3]), off, 2) == record(kept(I=[1, 3], E=[]))
    assert made(state(**GONE, K=[1]), kept(live=[1]), off, 2) is None


BY_RELEASE: list[tuple[str, dict[str, Any], dict[str, Any], dict[tuple[int, int], dict[str, Any] | None]]] = [
    ("B16", GONE | kept(K=[1]), kept(live=[3]), {(4, 0): kept(l=1, I=[1], K=[], RS=True), (4, 1): None}),
    ("B17", GONE | kept(K=[1]), kept(live=[3], election=UNCLEAN),
     {(4, 0): kept(l=1, I=[1], K=[], RS=True), (4, 1): kept(l=3, I=[3], K=[], RS=True)}),
    ("B21 min 1", GONE | kept(R=[1], E=[1], K=[1]), kept(I=[], live=[], stopped_uncleanly=frozenset({1})),
     {(4, 0): kept(l=1, I=[1], E=[], K=[], RS=True), (4, 1): kept(E=[])}),
    ("B23", kept(I=[1, 2]), kept(I=[2], live=[3]),
     {(4, 0): kept(l=-1, I=[2], E=[1]), (4, 2): kept(l=-1, I=[2], E=[1], K=[1])}),
    ("B24", kept(I=[2], l=-1, E=[1]), kept(I=[], live=[3]),
     {(4, 0): kept(I=[], E=[1, 2], K=[-1]), (4, 2): kept(I=[], E=[1, 2])}),
    ("B25", GONE | kept(E=[2]), kept(R=[1, 2], live=[3]),
     {(4, 0): kept(l=-1, R=[1, 2]), (4, 2): kept(l=-1, K=[-1], R=[1, 2])}),
    ("B30", kept(I=[1], K=[2]), kept(I=[1, 3]), {(4, 0): kept(I=[1, 3], K=[]), (4, 2): kept(I=[1, 3])}),
]  # fmt: skip


@pytest.mark.parametrize("release", ELR_RELEASES)
@pytest.mark.parametrize(("name", "before", "asked", "since"), BY_RELEASE, ids=[each[0] for each in BY_RELEASE])
def test_last_known_leaders_by_release(
    name: str,
    before: dict[str, Any],
    asked: dict[str, Any],
    since: dict[tuple[int, int], Any],
    release: tuple[int, int],
) -> None:
    expected = since[max(each for each in since if each <= release)]
    least = int(name.partition(" min ")[2] or 2)
    assert made(state(**before), dict(asked), Levels(release, 25, elr=True), least) == record(expected)


def test_every_record_raises_the_partition_epoch_and_a_leader_in_it_the_leader_epoch() -> None:
    before = state(leader_epoch=5, partition_epoch=9)
    after = applied(before, PartitionChange(isr=(1, 2)))
    assert (after.isr, after.leader, after.leader_epoch, after.partition_epoch) == ((1, 2), 1, 5, 10)
    again = applied(after, PartitionChange(leader=1, removing=()))
    assert (again.leader, again.leader_epoch, again.partition_epoch) == (1, 6, 11)


def test_a21_a_migration_raises_leader_epochs_as_before() -> None:
    for release, level, raised in (((3, 6), 14, True), ((3, 9), 21, True), ((4, 0), 25, False), ((3, 9), 7, True)):
        levels = Levels(release, level, migrating=True)
        again = kept(l=1) if raised else {}
        assert made(state(), kept(I=[1, 2]), levels, 1) == record(again | kept(I=[1, 2]))
    assert made(state(), kept(I=[1, 2]), Levels((3, 9), 21), 1) == record(kept(I=[1, 2]))


def test_a34_and_a23_directories_follow_their_replicas() -> None:
    before = state(directories=["x", "y", "z"])
    for level, directories in ((17, {"directories": ["n", "y", "z"]}), (16, None)):
        assert made(before, {"directories": {1: "n"}}, Levels((3, 7), level), 1) == record(directories)
    fewer = kept(l=1, I=[1, 2], R=[1, 2])
    for level, directories in ((17, {"directories": ["x", "y"]}), (16, {})):
        assert made(before, kept(R=[1, 2], I=[1, 2]), Levels((3, 7), level), 1) == record(fewer | directories)
