"""The event feed, newest first."""

from model.cluster.changes import Change
from tests.tui.data.small_cluster import NOW_MS, WRITTEN_MS, keys_of, moment_of, rows_of, small_image
from tui.engine.cluster.events import event_text, events_window
from tui.engine.cluster.queries import EventList, EventText
from tui.engine.listing import Memory

FEED = (
    Change("controller-elected", "controller", "b4 elected", "info", WRITTEN_MS, 16, "/controller"),
    Change("broker-lost", "broker 5", "session expired", "error", WRITTEN_MS + 112, 17, "/brokers/ids/5"),
    Change("isr-shrunk", "orders-2", "isr 3,4,5 -> 3,4", "warn", WRITTEN_MS + 412, 18),
)
MOMENT = moment_of(small_image(), *FEED)


def test_the_newest_comes_first():
    assert rows_of(events_window(MOMENT, EventList(), NOW_MS, Memory())) == [
        "! | 22:13:20.412 | isr-shrunk | orders-2 | isr 3,4,5 -> 3,4",
        "X | 22:13:20.112 | broker-lost | broker 5 | session expired",
        "  | 22:13:20.000 | controller-elected | controller | b4 elected",
    ]


def test_what_was_learnt_together_is_in_the_order_of_its_times():
    late = Change("leader-moved", "orders-3", "leader 5 -> 4", "info", WRITTEN_MS + 50, 19)
    moment = moment_of(MOMENT.image, *FEED, late)
    rows = rows_of(events_window(moment, EventList(), NOW_MS, Memory()))
    assert [row.split(" | ")[1][-3:] for row in rows] == ["412", "112", "050", "000"]


def test_a_row_keeps_its_key_when_more_happens():
    key = keys_of(events_window(MOMENT, EventList(), NOW_MS, Memory()))[1]
    later = moment_of(MOMENT.image, *FEED, Change("topic-created", "x", "created", "info", WRITTEN_MS + 500, 19))
    assert events_window(later, EventList(key=key), NOW_MS, Memory()).cursor == 2
    assert events_window(MOMENT, EventList(key="gone"), NOW_MS, Memory()).cursor == -1


def test_events_are_filtered():
    def kinds(text: str) -> list[str]:
        shown = events_window(MOMENT, EventList(filter=text), NOW_MS, Memory())
        return [row.split(" | ")[2] for row in rows_of(shown)]

    assert kinds("severity:error") == ["broker-lost"]
    assert kinds("expired") == ["broker-lost"]
    assert kinds("age:<32700ms") == ["isr-shrunk"]


def test_one_event_in_full():
    key = keys_of(events_window(MOMENT, EventList(), NOW_MS, Memory()))[1]
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
