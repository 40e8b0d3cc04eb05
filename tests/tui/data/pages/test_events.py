"""The event feed, newest first."""

from model.cluster.change import Change
from tests.tui.data.small_cluster import NOW_MS, WRITTEN_MS, keys_of, moment_of, rows_of, small_image
from tui.engine.cluster.events import effects_window, event_text, events_window, folded_window
from tui.engine.cluster.queries import EffectList, EventList, EventText, unfolding
from tui.engine.history.queries import PastEventList
from tui.engine.listing import AnswerMemo

FEED = (
    Change("controller-elected", "controller", "b4 elected", "info", WRITTEN_MS, 16, "/controller"),
    Change("broker-lost", "broker 5", "session expired", "error", WRITTEN_MS + 112, 17, "/brokers/ids/5"),
    Change("isr-shrunk", "orders-2", "isr 3,4,5 -> 3,4", "warn", WRITTEN_MS + 412, 18),
)
MOMENT = moment_of(small_image(), *FEED)


def test_the_newest_comes_first():
    assert rows_of(events_window(MOMENT, EventList(), NOW_MS, AnswerMemo())) == [
        "! | 22:13:20.412 | isr-shrunk | orders-2 | isr 3,4,5 -> 3,4",
        "X | 22:13:20.112 | broker-lost | broker 5 | session expired",
        "  | 22:13:20.000 | controller-elected | controller | b4 elected",
    ]


def test_what_was_learnt_together_is_in_the_order_of_its_times():
    late = Change("leader-moved", "orders-3", "leader 5 -> 4", "info", WRITTEN_MS + 50, 19)
    moment = moment_of(MOMENT.image, *FEED, late)
    rows = rows_of(events_window(moment, EventList(), NOW_MS, AnswerMemo()))
    assert [row.split(" | ")[1][-3:] for row in rows] == ["412", "112", "050", "000"]


def test_a_row_keeps_its_key_when_more_happens():
    key = keys_of(events_window(MOMENT, EventList(), NOW_MS, AnswerMemo()))[1]
    later = moment_of(MOMENT.image, *FEED, Change("topic-created", "x", "created", "info", WRITTEN_MS + 500, 19))
    assert events_window(later, EventList(key=key), NOW_MS, AnswerMemo()).cursor == 2
    assert events_window(MOMENT, EventList(key="gone"), NOW_MS, AnswerMemo()).cursor == -1


def test_events_are_filtered():
    def kinds(text: str) -> list[str]:
        shown = events_window(MOMENT, EventList(filter=text), NOW_MS, AnswerMemo())
        return [row.split(" | ")[2] for row in rows_of(shown)]

    assert kinds("severity:error") == ["broker-lost"]
    assert kinds("expired") == ["broker-lost"]
    assert kinds("age:<32700ms") == ["isr-shrunk"]


def test_one_event_in_full():
    key = keys_of(events_window(MOMENT, EventList(), NOW_MS, AnswerMemo()))[1]
    assert event_text(MOMENT, EventText(key=key)).plain.splitlines() == [
        "CRIT      session expired",
        "",
        "time      2023-11-14 22:13:20.112 UTC",
        "kind      broker-lost",
        "subject   broker 5",
        "zxid      0x11",
        "znode     /brokers/ids/5",
    ]
    assert event_text(MOMENT, EventText(key="x")).plain == "this event is not remembered any more"


def commit(group: str, at_ms: int, count: int = 1) -> Change:
    return Change(
        "offset-committed", f"group {group}", "orders-2 offset 1 -> 9", "info", WRITTEN_MS + at_ms, count=count
    )


COMMITS = moment_of(
    MOMENT.image, FEED[0], commit("billing", 5), *FEED[1:], commit("audit", 300), commit("billing", 30_000, 40)
)  # fmt: skip


def test_commits_are_left_out_unless_they_are_searched_for():
    def seen(text: str) -> list[str]:
        return [
            row.split(" | ")[3] for row in rows_of(events_window(COMMITS, EventList(filter=text), NOW_MS, AnswerMemo()))
        ]

    assert seen("") == ["orders-2", "broker 5", "controller"]
    assert seen("billing") == ["group billing"] * 2
    assert len(seen("!nothing")) == 6
    assert effects_window(COMMITS, EffectList(filter="billing"), NOW_MS, AnswerMemo()).total == 0


def test_commits_are_one_line_for_each_group_at_the_time_of_the_last():
    rows = rows_of(folded_window(COMMITS, PastEventList(), NOW_MS, AnswerMemo()))
    assert [row.split(" | ")[3] for row in rows] == [
        "group billing",
        "orders-2",
        "group audit",
        "broker 5",
        "controller",
    ]
    assert rows[0] == ("  | 22:13:50.000 | offset-committed | group billing | committed 41 offsets in 29s, last 3s ago")
    assert folded_window(COMMITS, PastEventList(filter="kind:offset"), NOW_MS, AnswerMemo()).total == 3


def test_many_groups_share_one_line():
    many = moment_of(MOMENT.image, *(commit(f"g{number}", number) for number in range(9)))
    rows = rows_of(folded_window(many, PastEventList(), NOW_MS, AnswerMemo()))
    assert rows == ["  | 22:13:20.008 | offset-committed | 9 groups | committed 9 offsets in 0s, last 32s ago"]
    assert unfolding("folded/9 groups") == "kind:offset-committed"


def test_a_folded_line_keeps_its_key_is_told_and_leads_to_what_it_stands_for():
    memory, key = AnswerMemo(), "folded/group billing"
    assert keys_of(folded_window(COMMITS, PastEventList(), NOW_MS, memory))[0] == key
    more = moment_of(MOMENT.image, *COMMITS.feed, commit("billing", 31_000), Change("acted", "x", "y", "info", NOW_MS))
    assert folded_window(more, PastEventList(key=key), NOW_MS, memory).cursor == 1
    plain = event_text(COMMITS, EventText(key=key, width=90)).plain
    assert "group billing committed 41 offsets" in plain and unfolding(key) in plain
    shown = folded_window(COMMITS, PastEventList(filter=unfolding(key)), NOW_MS, memory)
    assert [row.split(" | ")[3] for row in rows_of(shown)] == ["group billing"] * 2
    assert event_text(MOMENT, EventText(key=key)).plain == "this is not remembered any more"
