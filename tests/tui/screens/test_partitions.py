"""The partition map: what it shows of each broker, and the reason beside it."""

from tests.tui.dashboard import Keys, foot, kdrill, mode, opened, press, rows, settled, text, type_in
from tui.app.panes.frames import Framed


async def test_the_reason_is_that_of_the_partition_under_the_cursor(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        kdrill(pilot).show_partitions("dead-letters")
        await press(pilot, "3", "g", "j", "j", "j", "j")
        assert rows(pilot).cursor_key == "dead-letters-4"
        assert "dead-letters-4" in text(pilot).split("\n")[2]
        reason = " ".join(line[-50:].strip("│║┃ ") for line in text(pilot).split("\n"))
        assert "Bring broker 5 back" in reason or "bring b5 back" in reason.lower()


async def test_enter_and_o_lead_to_the_state_znode(still: str) -> None:
    for key in ("enter", "o"):
        async with opened(still) as pilot:
            kdrill(pilot).show_partitions("page-views-5")
            await press(pilot, "3", key)
            assert mode(pilot) == "znodes"
            assert rows(pilot).cursor_key == "/brokers/topics/page-views/partitions/5/state"


async def test_a_partition_is_described_in_full(still: str) -> None:
    async with opened(still) as pilot:
        kdrill(pilot).show_partitions("payments-4")
        await press(pilot, "3", "d")
        assert "partition payments-4" in text(pilot).split("\n")[1]
        assert "under min ISR" in text(pilot) or "min ISR 2" in text(pilot)


async def test_every_broker_and_every_state_is_seen_in_the_smallest_terminal(still: str) -> None:
    async with opened(still, size=(60, 16)) as pilot:
        await press(pilot, "3")
        titles = [column.title for column in rows(pilot).answer.columns]
        assert titles[:2] == ["partition", " 1 2 3 4X5 6"]
        assert titles[-1] == "state"
        kdrill(pilot).show_partitions("dead-letters")
        await settled(pilot)
        assert "X OFFLINE" in text(pilot)


async def test_the_map_is_moved_over_the_brokers(still: str) -> None:
    async with opened(still, size=(64, 24)) as pilot:
        await press(pilot, "3", "right_parenthesis")
        assert kdrill(pilot).view_state.of("partitions").offset == 4
        await press(pilot, "left_parenthesis")
        assert kdrill(pilot).view_state.of("partitions").offset == 0


async def test_the_list_takes_the_place_of_the_map(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "v")
        assert [column.title for column in rows(pilot).answer.columns[1:3]] == ["leader", "replicas"]
        assert "L leader  o in ISR" not in text(pilot)
        await press(pilot, "v")
        assert "Partitions: L leader  o in ISR" in text(pilot)


async def test_the_last_partition_is_one_key_away_and_the_first_another(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "G")
        assert (rows(pilot).cursor, rows(pilot).cursor_key) == (125, "shipments-8")
        await press(pilot, "ctrl+u", "ctrl+u")
        assert rows(pilot).cursor == 117
        await press(pilot, "pagedown", "g")
        assert rows(pilot).cursor_key == "__consumer_offsets-0"


async def test_a_filter_by_field_finds_what_is_under_replicated(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "slash")
        await type_in(pilot, "state:under topic:orders")
        await press(pilot, "enter")
        assert rows(pilot).cursor_key == "orders-7"
        assert "1 of 126" in foot(pilot)


async def test_what_matches_nothing_is_said_so_and_the_reason_beside_goes(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "slash")
        await type_in(pilot, "nosuchtopic")
        assert "nothing matches the filter" in text(pilot)
        assert rows(pilot, "partitions").cursor_key == ""
        assert "__consumer_offsets-0" not in text(pilot)
        await press(pilot, "escape")
        assert rows(pilot).total == 126


async def test_a_topic_that_is_not_there_is_said_so_with_what_is_near(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "colon")
        await type_in(pilot, "topic payment")
        await press(pilot, "enter")
        await press(pilot, "3")
        assert "there is no topic" not in text(pilot)
        await press(pilot, "colon")
        await type_in(pilot, "topic paymnets")
        await press(pilot, "enter")
        assert "there is no topic paymnets: did you mean payments" in text(pilot)


async def test_the_filter_is_kept_when_one_comes_back(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "slash")
        await type_in(pilot, "clicks")
        await press(pilot, "enter", "j", "2", "3")
        assert (rows(pilot).total, rows(pilot).cursor_key) == (18, "clicks-1")


def form(pilot: Keys) -> str:
    return kdrill(pilot).view_state.of("partitions").view


def title(pilot: Keys, frame: str) -> str:
    return kdrill(pilot).screen.query_one(frame, Framed).title


async def test_one_steps_back_from_a_partition_to_its_topic_and_returns_to_it(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "G", "k", "k", "z")
        assert (form(pilot), rows(pilot).cursor_key) == ("topics", "shipments")
        assert title(pilot, "#map-frame").startswith("Topics, their worst replica: X leaderless")
        assert "/brokers/topics/shipments" in text(pilot)
        await press(pilot, "enter")
        assert (form(pilot), rows(pilot).cursor_key) == ("matrix", "shipments-6")


async def test_another_topic_opens_at_its_first_partition_in_view(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "slash")
        await type_in(pilot, "!ok")
        await press(pilot, "enter", "z", "g", "j")
        assert rows(pilot).cursor_key == "dead-letters"
        assert rows(pilot).total < rows(pilot).answer.unfiltered_total
        await press(pilot, "enter")
        assert (form(pilot), rows(pilot).cursor_key) == ("matrix", "dead-letters-4")


async def test_past_the_racks_one_is_back_at_the_same_partition_in_the_same_form(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "v", "j", "j", "z", "z")
        assert (form(pilot), rows(pilot).cursor_key) == ("brokers", "1")
        assert title(pilot, "#why-frame") == "broker 1"
        await press(pilot, "j", "j", "z")
        assert (form(pilot), rows(pilot).cursor_key) == ("racks", "rack-c")
        assert "b3 b6" in text(pilot)
        await press(pilot, "z")
        assert (form(pilot), rows(pilot).cursor_key) == ("list", "__consumer_offsets-2")


async def test_a_rack_opens_its_brokers_and_a_broker_the_topics_from_its_column_on(still: str) -> None:
    async with opened(still, size=(64, 24)) as pilot:
        await press(pilot, "3", "z", "v", "z", "j", "j", "z", "enter")
        assert (form(pilot), rows(pilot).cursor_key) == ("brokers", "3")
        await press(pilot, "z", "k", "enter")
        assert (form(pilot), rows(pilot).cursor_key) == ("brokers", "2")
        await press(pilot, "j", "enter")
        assert (form(pilot), rows(pilot).cursor_key) == ("topics-other", "__consumer_offsets")


async def test_topics_stand_against_racks_on_demand(still: str) -> None:
    async with opened(still, size=(60, 24)) as pilot:
        await press(pilot, "3", "z")
        assert rows(pilot).answer.columns[1].title == " 1 2 3 4X5 6"
        await press(pilot, "v")
        assert rows(pilot).answer.columns[1].title.split()[0] == "rack-a"


async def test_what_is_described_and_gone_to_is_what_the_row_is_about(still: str) -> None:
    for zooms, described, path in ((1, "topic clicks", "/brokers/topics/clicks"), (2, "broker 3", "/brokers/ids/3")):
        async with opened(still) as pilot:
            await press(pilot, "3", *["z"] * zooms, "j", "j", "d")
            assert described in text(pilot).split("\n")[1]
            await press(pilot, "escape", "o")
            assert (mode(pilot), rows(pilot).cursor_key) == ("znodes", path)


async def test_going_to_partitions_from_elsewhere_shows_partitions(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "z", "z", "1")
        kdrill(pilot).show_partitions("topic:payments")
        await settled(pilot)
        assert (form(pilot), rows(pilot).cursor_key) == ("matrix", "payments-0")


async def test_signs_tell_the_same_without_colour(still: str) -> None:
    seen: list[str] = []
    for theme in ("safe", "mono"):
        async with opened(still, theme=theme) as pilot:
            await press(pilot, "3", "z")
            seen.append(text(pilot))
    assert seen[0] == seen[1]
    assert "X  1" in seen[0]
