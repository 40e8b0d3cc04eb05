"""What an intent makes of what the operator chose: a pure function, so plain values are enough."""

from hypothesis import given
from hypothesis import strategies as st

from tui.engine.view_state import (
    VIEWS,
    Close,
    Filter,
    Intent,
    ListState,
    MoveBrokers,
    Narrow,
    Open,
    Reverse,
    Sort,
    SwitchView,
    ViewState,
    Zoom,
    level_of,
    reduce,
)

NAMES = st.sampled_from(["partitions", "groups", "znodes", "events"])
PATHS = st.lists(st.sampled_from(["admin", "brokers", "ids", "1"]), max_size=3).map(lambda parts: "/" + "/".join(parts))

INTENTS: st.SearchStrategy[Intent] = st.one_of(
    st.builds(Filter, NAMES, st.text(max_size=3)),
    st.builds(Sort, NAMES, st.sampled_from(["", "age", "name"])),
    st.builds(Reverse, NAMES),
    st.builds(SwitchView, NAMES),
    st.builds(Zoom, st.just("partitions"), st.integers(0, 3)),
    st.builds(Narrow, NAMES, st.text(max_size=3)),
    st.builds(MoveBrokers, NAMES, st.integers(-9, 9)),
    st.builds(Open, NAMES, st.lists(PATHS, max_size=2).map(tuple)),
    st.builds(Close, NAMES, PATHS),
)


def after(*intents: Intent) -> ViewState:
    state = ViewState()
    for intent in intents:
        state = reduce(state, intent)
    return state


def test_a_list_begins_with_its_first_view() -> None:
    assert {name: ViewState().of(name).view for name in VIEWS} == {name: views[0] for name, views in VIEWS.items()}


def test_a_filter_is_replaced_by_the_next_one() -> None:
    assert after(Filter("events", "a"), Filter("events", "b")).of("events").filter == "b"


def test_a_column_sorts_and_the_same_one_again_gives_the_lists_own_order() -> None:
    assert after(Sort("events", "age")).of("events").sort == "age"
    assert after(Sort("events", "age"), Sort("events", "age")).of("events").sort == ""


def test_another_column_begins_in_its_own_direction() -> None:
    state = after(Sort("events", "age"), Reverse("events"), Sort("events", "kind")).of("events")
    assert (state.sort, state.reverse) == ("kind", False)


def test_views_come_round() -> None:
    assert after(SwitchView("partitions")).of("partitions").view == "list"
    assert after(SwitchView("partitions"), SwitchView("partitions")).of("partitions").view == "matrix"


def test_a_list_with_one_view_keeps_it() -> None:
    assert after(SwitchView("events")).of("events") == ListState()


def test_the_map_does_not_move_before_its_first_broker() -> None:
    assert after(MoveBrokers("partitions", 4), MoveBrokers("partitions", -8)).of("partitions").offset == 0


def test_closing_a_branch_closes_what_is_open_below_and_nothing_beside() -> None:
    opened = Open("znodes", ("/brokers", "/brokers/ids", "/brokers-of-old", "/admin"))
    assert after(opened, Close("znodes", "/brokers")).of("znodes").opened == ("/brokers-of-old", "/admin")


def test_closing_the_root_closes_everything() -> None:
    assert after(Open("znodes", ("/brokers", "/brokers/ids")), Close("znodes", "/")).of("znodes").opened == ()


@given(st.lists(INTENTS, max_size=20))
def test_an_intent_changes_its_own_list_only(intents: list[Intent]) -> None:
    state = ViewState()
    for intent in intents:
        before, state = state, reduce(state, intent)
        others = {"partitions", "groups", "znodes", "events"} - {intent.list}
        assert all(state.of(name) == before.of(name) for name in others)


@given(st.lists(INTENTS, max_size=20))
def test_no_branch_is_open_twice(intents: list[Intent]) -> None:
    for name in ("partitions", "znodes"):
        opened = after(*intents).of(name).opened
        assert len(opened) == len(set(opened))


def test_every_distance_keeps_the_form_in_which_it_was_left() -> None:
    state = after(SwitchView("partitions"), Zoom("partitions", 1), SwitchView("partitions"), Zoom("partitions", 3))
    assert level_of("partitions", state.of("partitions").view) == 3
    assert reduce(state, Zoom("partitions", 0)).of("partitions").view == "list"
    assert reduce(state, Zoom("partitions", 1)).of("partitions").view == "topics-other"
    assert reduce(state, Zoom("partitions", 2)).of("partitions").view == "brokers"


def test_a_distance_at_which_one_is_already_changes_nothing() -> None:
    listed = after(SwitchView("partitions"))
    assert reduce(listed, Zoom("partitions", 0)) == listed
