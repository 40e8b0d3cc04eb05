"""The picture of a cluster: everybody is in it or counted, nothing is too wide, and words tell what colours do."""

from __future__ import annotations

from functools import cache
from typing import Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.cluster.cluster_image import ClusterImage
from model.cluster.image_parts import Quorum, QuorumReplica
from model.cluster.records import BrokerLost, BrokerRegistered, ControllerElected
from model.sandbox.faults import CutLink, HealLink
from model.sandbox.messages import LinkView, LoadView, OpenFault, ProcessKind, ProcessStatus, ProcessView, SandboxState
from model.sandbox.options import SandboxOptions
from model.sources.feed import Moment
from tests.tui.data.asked import rows_shown, text_shown
from tests.tui.data.small_cluster import NOW_MS, moment_of, small_image
from tui.engine.messages import TextAnswer
from tui.engine.queries import NO_SANDBOX, ClusterPicture, LinkList
from tui.engine.sandbox.facts import COUNTDOWN_MS, SECOND_MS, STATES, Drawn
from tui.engine.text import cells

SESSION_MS = 6_000
ROOMY = (76, 40)
STATUSES: tuple[ProcessStatus, ...] = ("running", "starting", "paused", "stopped", "killed", "crashed")


def process(kind: ProcessKind, name: str, status: ProcessStatus = "running", since_ms: int = 1) -> ProcessView:
    return ProcessView(name=name, kind=kind, status=status, since_ms=since_ms)


def cut(node: int, at_ms: int, above: str = "zookeeper") -> OpenFault:
    between = (str(node), above)
    return OpenFault(number=1, at_ms=at_ms, fault=CutLink(between), text="cut", repair=HealLink(between))


def sandbox(*changed: ProcessView, **more: object) -> SandboxState:
    """ZooKeeper, three brokers, a producer and a group of two; `changed` take the place of those of their name."""
    processes = {
        one.name: one
        for one in (
            process("zookeeper", "zookeeper 1"),
            *(process("broker", f"broker {number}") for number in (1, 2, 3)),
            process("producer", "producer"),
            *(process("consumer", f"consumer billing/c{number}") for number in (1, 2)),
            *changed,
        )
    }
    links = tuple(LinkView(between=(str(number), "zookeeper")) for number in (1, 2, 3))
    state = SandboxState(processes=tuple(processes.values()), links=links, load=LoadView(rate=200.0))
    return msgspec.structs.replace(state, **more)


def of_quorum(*changed: ProcessView, **more: object) -> SandboxState:
    """As `sandbox`, with three controllers instead of the ZooKeeper."""
    controllers = [process("controller", f"controller {number}") for number in (101, 102, 103)]
    state = sandbox(*controllers, *changed, **more)
    return msgspec.structs.replace(state, processes=tuple(one for one in state.processes if one.kind != "zookeeper"))


def drawn(
    state: SandboxState | None,
    size: tuple[int, int] = ROOMY,
    image: ClusterImage | None = None,
    *,
    key: str = "",
    now_ms: int = NOW_MS,
    is_filled: bool = False,
) -> TextAnswer:
    query = ClusterPicture(key=key, width=size[0], height=size[1], is_filled=is_filled)
    return text_shown(Drawn(_moment() if image is None else moment_of(image), state, SESSION_MS), query, now_ms)


@cache
def _moment() -> Moment:
    return moment_of(small_image())


NAMES = st.sampled_from(("billing", "群组", "a\x1bb", "x" * 90))
GROUPS = st.lists(st.tuples(NAMES, st.integers(1, 12)), max_size=6, unique_by=lambda one: one[0])
STATES_OF_SANDBOXES = st.builds(
    lambda zookeepers, brokers, members, at_ms: SandboxState(
        processes=(
            *(process("zookeeper", f"zookeeper {n}", status) for n, status in enumerate(zookeepers, 1)),
            *(process("broker", f"broker {n}", status, at_ms) for n, status in enumerate(brokers, 1)),
            process("producer", "producer"),
            *(process("consumer", f"consumer {group}/m{n}") for group, count in members for n in range(count)),
        ),
        links=tuple(
            LinkView(between=(str(n), "zookeeper"), status="cut" if status == "paused" else "open")
            for n, status in enumerate(brokers, 1)
        ),
        load=LoadView(rate=200.0, acknowledged=123_456_789, waiting=7),
    ),
    st.lists(st.sampled_from(STATUSES), min_size=1, max_size=3),
    st.lists(st.sampled_from(STATUSES), min_size=1, max_size=100),
    GROUPS,
    st.integers(NOW_MS - 10_000, NOW_MS),
)


@settings(max_examples=60)
@given(STATES_OF_SANDBOXES, st.integers(20, 200), st.integers(4, 70), st.booleans())
def test_everybody_is_drawn_or_counted_and_nothing_is_wider_than_asked(
    state: SandboxState, width: int, height: int, is_filled: bool
) -> None:
    answer = drawn(state, (width, height), is_filled=is_filled)
    assert len(answer.lines) == height
    assert {sum(cells(text) for text, _ in line) for line in answer.lines} == {width}
    keys = [spot.key for spot in answer.spots]
    assert len(set(keys)) == len(keys) and set(keys) <= {one.name for one in state.processes}
    hidden = len(state.processes) - len(keys)
    assert (f"and {hidden} more" in answer.plain) == bool(hidden)
    for spot in answer.spots:
        assert min(spot.x, spot.y) >= 0 and spot.x + spot.width <= width and spot.y + spot.height <= height


@given(STATES_OF_SANDBOXES)
@settings(max_examples=25)
def test_where_there_is_room_everybody_is_there_by_name(state: SandboxState) -> None:
    answer = drawn(state, (200, 70))
    assert {one.name for one in state.processes if one.kind != "consumer"} <= {spot.key for spot in answer.spots}
    for place, line in enumerate(answer.plain.splitlines()):
        for spot in answer.spots:
            if spot.key.startswith("broker ") and spot.y == place and spot.height > 1:
                assert spot.key in line


@pytest.mark.parametrize("status", STATUSES)
def test_a_word_tells_how_a_broker_fares(status: ProcessStatus) -> None:
    for size in (ROOMY, (76, 13), (40, 12)):
        assert STATES[status] in drawn(sandbox(process("broker", "broker 2", status, NOW_MS - 9_000)), size).plain


def test_where_nothing_is_wrong_nothing_counts() -> None:
    answer = drawn(sandbox())
    assert answer.again_ms == 0 and "session" not in answer.plain and "CUT" not in answer.plain


@given(st.integers(0, 30_000), st.sampled_from(("killed", "paused", "crashed")))
def test_a_session_counts_down_to_nothing_and_never_below(age_ms: int, status: ProcessStatus) -> None:
    answer = drawn(sandbox(process("broker", "broker 2", status, NOW_MS - age_ms)))
    left_s = max(SESSION_MS - age_ms, 0) / 1000
    assert f"session ends {left_s:.1f} s" in answer.plain and "-0" not in answer.plain
    assert answer.again_ms == (COUNTDOWN_MS if left_s else SECOND_MS)


def test_the_countdown_ends_when_the_session_has_expired() -> None:
    state = sandbox(process("broker", "broker 2", "killed", NOW_MS - 4_000))
    gone = small_image(BrokerLost(broker=2))
    told = drawn(state, image=gone)
    assert "session expired" in told.plain and "session ends" not in told.plain and told.again_ms == SECOND_MS
    later = drawn(state, image=gone, now_ms=NOW_MS + 120_000)
    assert "DEAD 2m" in later.plain and later.again_ms == 0


def test_a_link_that_is_cut_is_dashed_and_named_and_its_session_counts_from_then_on() -> None:
    links = (LinkView(between=("2", "zookeeper"), status="cut"), LinkView(between=("2", "3"), status="slow"))
    told = drawn(sandbox(links=links, faults=(cut(2, NOW_MS - 2_500),))).plain
    assert "- CUT -" in told and "╎" in told and "CUT OFF 2s" in told and "session ends 3.5 s" in told
    assert told.count("slow: b") == 2
    assert "SLOW" in drawn(sandbox(links=(LinkView(between=("1", "zookeeper"), status="slow"),))).plain


def test_without_zookeeper_no_session_ends() -> None:
    state = sandbox(
        process("zookeeper", "zookeeper 1", "killed", NOW_MS - 1_000),
        process("broker", "broker 2", "killed", NOW_MS - 500),
    )
    told = drawn(state).plain
    assert "NO ZOOKEEPER" in told and "session held" in told and "session ends" not in told


def test_without_zookeeper_and_without_brokers_both_are_told() -> None:
    state = SandboxState(processes=(process("zookeeper", "zookeeper 1", "killed", NOW_MS - 1_000),))
    told = drawn(state).plain
    assert "NO ZOOKEEPER" in told and "zookeeper 1" in told and "broker" not in told


def test_the_cursor_begins_on_the_controller_and_stays_where_it_is_put() -> None:
    here = sandbox(process("broker", "broker 4"))
    assert drawn(here).title == "broker 4"  # the small cluster's controller
    assert "★" in drawn(here).plain and "╔" in drawn(here).plain
    assert drawn(here, key="consumer billing/c2").title == "consumer billing/c2"
    assert drawn(here, key="broker 77").title == "broker 4"


def test_a_cluster_that_is_no_sandbox_is_drawn_and_says_so() -> None:
    answer = drawn(None)
    assert answer.plain.startswith(NO_SANDBOX) and answer.again_ms == 0
    assert "DOWN" in answer.plain and "ZooKeeper" in answer.plain and "1 consumer group" in answer.plain
    assert [spot.key for spot in answer.spots] == [f"broker {number}" for number in range(1, 7)]


def test_the_sessions_length_is_what_the_brokers_ask_for() -> None:
    assert SandboxOptions().session_ms == SESSION_MS
    assert SandboxOptions(settings={"zookeeper.session.timeout.ms": "9000"}).session_ms == 9_000


def test_a_broker_that_registers_anew_has_a_session_again() -> None:
    state = sandbox(process("broker", "broker 5"))
    dashed = drawn(state).plain.count("╎")
    registered = small_image(BrokerRegistered(broker=5, endpoints=(), rack=None, epoch=1, registered_ms=1))
    assert dashed > drawn(state, image=registered).plain.count("╎") == 0


KRAFT = small_image(ControllerElected(broker=102, since_ms=1))
"""Controller 102 is active."""


def test_the_active_controller_is_marked_and_the_cursor_begins_there() -> None:
    answer = drawn(of_quorum(), image=KRAFT)
    assert answer.title == "controller 102" and "controller 102 ★" in answer.plain
    assert answer.plain.count("★") == 1 and "QUORUM" not in answer.plain


def test_a_silent_broker_counts_down_to_its_fence() -> None:
    state = of_quorum(process("broker", "broker 2", "killed", NOW_MS - 4_000))
    assert "fenced in 2.0 s" in drawn(state, image=KRAFT).plain
    fenced = small_image(ControllerElected(broker=102, since_ms=1), BrokerLost(broker=2))
    told = drawn(state, image=fenced).plain
    assert "fenced" in told and "fenced in" not in told and "session" not in told


def test_a_broker_that_is_cut_off_from_controllers_counts_from_then_on() -> None:
    links = (LinkView(between=("2", "controllers"), status="cut"), LinkView(between=("1", "controllers")))
    told = drawn(of_quorum(links=links, faults=(cut(2, NOW_MS - 2_500, "controllers"),)), image=KRAFT).plain
    assert "- CUT -" in told and "CUT OFF 2s" in told and "fenced in 3.5 s" in told


@pytest.mark.parametrize("how", ["killed", "paused", "cut"])
def test_without_a_majority_nothing_is_written_and_nobody_is_fenced(how: ProcessStatus | Literal["cut"]) -> None:
    lost, links = [process("controller", "controller 101", "killed", NOW_MS - 900)], list[LinkView]()
    if how == "cut":
        links.append(LinkView(between=("102", "controllers"), status="cut"))
    else:
        lost.append(process("controller", "controller 102", how, NOW_MS - 900))
    silent = process("broker", "broker 2", "killed", NOW_MS - 500)
    told = drawn(of_quorum(*lost, silent, links=tuple(links)), image=KRAFT).plain
    assert "NO QUORUM: nothing is written" in told and "nobody fences it" in told
    one_left = drawn(of_quorum(lost[0], silent), image=KRAFT).plain
    assert "NO QUORUM" not in one_left and "fenced in" in one_left


def test_a_controller_that_votes_no_more_observes_and_makes_no_majority() -> None:
    voters = tuple(QuorumReplica(number) for number in (101, 102))
    image = msgspec.structs.replace(KRAFT, quorum=Quorum(102, 3, 9, voters, (QuorumReplica(103),)))
    told = drawn(of_quorum(), image=image).plain
    assert told.count("UP  observes") == 1 and "NO QUORUM" not in told
    lost = drawn(of_quorum(process("controller", "controller 101", "killed", NOW_MS - 900)), image=image).plain
    assert "NO QUORUM: nothing is written" in lost


def test_a_quorum_of_one_is_a_controller() -> None:
    alone = of_quorum(process("controller", "controller 101", "killed", NOW_MS - 900))
    processes = [one for one in alone.processes if one.name not in ("controller 102", "controller 103")]
    assert (
        "NO CONTROLLER: nothing is written" in drawn(msgspec.structs.replace(alone, processes=tuple(processes))).plain
    )


def test_a_controller_whose_links_are_slow_or_cut_says_which() -> None:
    links = (
        LinkView(between=("101", "controllers"), status="slow", delay_ms=200),
        LinkView(between=("102", "103"), status="cut"),
    )
    told = drawn(of_quorum(links=links), image=KRAFT).plain
    assert "│ UP  SLOW " in told and " UP  cut: c103 " in told and "UP  cut: c102 " in told


def test_a_controller_that_is_cut_off_says_so() -> None:
    links = (LinkView(between=("103", "controllers"), status="cut"),)
    told = drawn(of_quorum(links=links, faults=(cut(103, NOW_MS - 2_500, "controllers"),)), image=KRAFT).plain
    assert "CUT OFF 2s" in told and "QUORUM" not in told


@pytest.mark.parametrize("size", [ROOMY, (76, 22), (60, 16), (40, 12)])
def test_a_quorum_of_five_fits(size: tuple[int, int]) -> None:
    five = of_quorum(process("controller", "controller 104"), process("controller", "controller 105"))
    answer = drawn(five, size, KRAFT)
    assert {sum(cells(text) for text, _ in line) for line in answer.lines} == {size[0]}
    assert "★" in answer.plain


def test_a_link_is_named_by_what_its_ends_are() -> None:
    links = (LinkView(between=("101", "102"), status="cut"), LinkView(between=("1", "controllers")))
    listed = rows_shown(of_quorum(links=links), LinkList(), NOW_MS).rows
    assert ["".join(text for text, _ in row.cells[0]) for row in listed] == ["c101 - c102", "b1 - controllers"]
