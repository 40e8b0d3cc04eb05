"""What each form of the filter language matches, and that no text whatever upsets it."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tui.engine.filters import BadFilter, BrokerSets, Coded, Numbers, Searched, Texts, matching_rows

NAMES = ["orders-1", "orders-2", "payments-1", "Shipments-3"]
REPLICAS = np.array([[1, 2, -1], [2, 3, -1], [3, 12, 5], [-1, -1, -1]], np.int32)

ROWS = Searched(
    count=4,
    fields={
        "name": Texts(lambda: NAMES),
        "leader": Numbers(np.array([1, 2, -1, 12]), lambda id: "none" if id == -1 else str(id)),
        "broker": BrokerSets(REPLICAS),
        "state": Coded(np.array([0, 1, 2, 0], np.int32), Texts(lambda: ["ok", "! under", "X OFFLINE"])),
        "epoch": Numbers(np.array([3, 40, 41, 39]), lambda epoch: f"e{epoch}"),
        "age": Numbers(np.array([500, 59_000, 61_000, -1]), is_duration=True),
    },
    shown=("name", "leader", "state", "epoch"),
)


def matched(text: str) -> list[str]:
    return [NAMES[row] for row in np.flatnonzero(matching_rows(text, ROWS))]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", NAMES),
        ("orders", ["orders-1", "orders-2"]),
        ("SHIP", ["Shipments-3"]),
        ("under", ["orders-2"]),
        ("e4", ["orders-2", "payments-1"]),
        ("none", ["payments-1"]),
        ("~odr2", ["orders-2"]),
        ("fuzzy:pyts", ["payments-1"]),
        ("re:^(orders|pay).*-1$", ["orders-1", "payments-1"]),
        (r"re:^\D+-[3-9]$", ["Shipments-3"]),
        ("!ok", ["orders-2", "payments-1"]),
        ("!!ok", ["orders-1", "Shipments-3"]),
        ("orders ok", ["orders-1"]),
        ("payments | ship", ["payments-1", "Shipments-3"]),
        ("payments or ship", ["payments-1", "Shipments-3"]),
        ("payments|ship", ["payments-1", "Shipments-3"]),
        ("orders ok | leader:none", ["orders-1", "payments-1"]),
        ("state:under", ["orders-2"]),
        ("state:=ok", ["orders-1", "Shipments-3"]),
        ("state:!=ok", ["orders-2", "payments-1"]),
        ("broker:2", ["orders-1", "orders-2"]),
        ("broker:>4", ["payments-1"]),
        ("broker:!=2", ["payments-1", "Shipments-3"]),
        ("broker:none", ["Shipments-3"]),
        ("leader:none", ["payments-1"]),
        ("leader:<3", ["orders-1", "orders-2"]),
        ("leader:b12", ["Shipments-3"]),
        ("epoch:>=40", ["orders-2", "payments-1"]),
        ("epoch:e3", ["orders-1"]),
        ("epoch:<0.04k", ["orders-1", "Shipments-3"]),
        ("age:<1m", ["orders-1", "orders-2"]),
        ("age:>=61s", ["payments-1"]),
        ("age:<500ms", []),
        ("age:none", ["Shipments-3"]),
    ],
)
def test_what_a_filter_matches(text: str, names: list[str]):
    assert matched(text) == names


@pytest.mark.parametrize("text", ["!", "~", "re:", "state:", "epoch:>", "orders |", "| |", "or"])
def test_a_filter_that_is_still_being_typed_hides_nothing_it_may_find(text: str):
    assert set(matched(text)) >= {"orders-1", "orders-2"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("re:(", "re:(: missing )"),
        ("colour:red", "no field colour here; there are name, leader"),
        ("epoch:many", "epoch is a number, or none, not many"),
        ("age:>soon", "age is a time such as 30s, 5m, 2h or 4d, not >soon"),
        ("state:<ok", "state is a text, which has no less or more, not <ok"),
    ],
)
def test_a_filter_that_cannot_be_understood_says_why(text: str, says: str):
    with pytest.raises(BadFilter) as caught:
        matched(text)
    assert str(caught.value).startswith(says)


def test_a_port_or_an_endpoint_is_a_text_and_no_field():
    rows = Searched(1, {"host": Texts(lambda: ["kfk:9092"])}, ["host"])
    assert matching_rows("kfk:9092", rows).all()
    assert not matching_rows("PLAINTEXT://kfk", rows).any()


WORDS = st.sampled_from(
    [
        "!",
        "~",
        "re:",
        "fuzzy:",
        "|",
        "or",
        " ",
        ":",
        ">",
        "<=",
        "age:",
        "leader:",
        "broker:",
        "state:",
        "1",
        "none",
        "(a",
    ]
)


@given(st.lists(WORDS | st.text(max_size=4), max_size=8).map("".join))
@example("re:" + "a{99999999999}")
@example("age:" + "9" * 5000)
@example("leader:1.1.1")
@example("leader:²")
@example("~^]-\\")
def test_no_text_whatever_upsets_a_filter(text: str):
    try:
        rows, reason = matching_rows(text, ROWS), "understood"
    except BadFilter as bad:
        rows, reason = np.ones(4, np.bool_), str(bad)
    assert rows.shape == (4,)
    assert len(reason.splitlines()) == 1


@given(st.lists(st.lists(st.integers(-1, 2**31 - 2), min_size=4, max_size=4), min_size=1, max_size=12))
def test_sets_of_brokers_are_told_apart_however_large_the_ids(rows: list[list[int]]):
    field = BrokerSets(np.array(rows, np.int32))
    texts = [",".join(str(id) for id in row if id != -1) for row in rows]
    for text in texts:
        assert field.matching(text.__eq__).tolist() == [other == text for other in texts]
