"""The overview's own keys: enter, describe, go to, copy, sort and bars, list by list."""

import pytest

from tests.tui.dashboard import foot, kdrill, mode, opened, press, rows, text, type_in, until
from tui.app.screens.overlays import Describe

REPLICAS = 3
"""The number of the brokers' column."""


async def test_enter_on_a_broker_shows_its_partitions(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "j", "enter")
        assert mode(pilot) == "partitions"
        assert kdrill(pilot).view_state.of("partitions").filter == "broker:2"
        assert 0 < rows(pilot).total < 126
        assert "/broker:2  " in text(pilot)


async def test_a_broker_is_described_and_found_in_the_tree(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "d")
        assert "broker 1" in text(pilot) and "PLAINTEXT://kafka-1.example:9092" in text(pilot)
        await press(pilot, "escape", "o")
        assert (mode(pilot), rows(pilot).cursor_key) == ("znodes", "/brokers/ids/1")


async def test_a_finding_is_described(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "a", "d")
        assert "CRIT      dead-letters: 1 of 6 partitions offline" in text(pilot)
        assert "what to do Bring broker 5 back" in text(pilot)


@pytest.mark.parametrize(
    ("finding", "place", "row"),
    [
        ("dead-letters", "partitions", "dead-letters-4"),
        ("kind:dead-broker", "controller", "5"),
        ("group billing", "consumers", "billing"),
        ("subject:/brokers", "znodes", "/brokers/topics/inventory/partitions/5/state"),
    ],
)
@pytest.mark.parametrize("key", ["enter", "o"])
async def test_a_finding_leads_to_what_it_is_about_and_one_key_back(
    still: str, finding: str, place: str, row: str, key: str
) -> None:
    async with opened(still) as pilot:
        await press(pilot, "a", "slash")
        await type_in(pilot, finding)
        await press(pilot, "enter", key)
        await until(pilot, lambda: mode(pilot) == place and rows(pilot).cursor_key == row)
        await press(pilot, "q" if key == "enter" else "escape")
        assert (mode(pilot), rows(pilot).list_name) == ("overview", "findings")
        assert kdrill(pilot).view_state.of("findings").filter == finding, "as it was left"
        assert not kdrill(pilot).view_state.of("partitions").filter


async def test_why_a_partition_is_offline_is_two_keys_away(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "a", "enter")
        await until(pilot, lambda: mode(pilot) == "partitions" and "Bring b5 back" in text(pilot))
        assert rows(pilot).cursor_key == "dead-letters-4"
        await press(pilot, "minus")
        assert (mode(pilot), rows(pilot).list_name) == ("overview", "findings")


async def test_a_filter_of_ones_own_is_taken_away_before_one_goes_back(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "a", "enter")
        await until(pilot, lambda: mode(pilot) == "partitions")
        await press(pilot, "slash")
        await type_in(pilot, " state:ok")
        await press(pilot, "enter", "q")
        assert (mode(pilot), rows(pilot).total) == ("partitions", 126)
        await press(pilot, "q")
        assert mode(pilot) == "overview"


@pytest.mark.parametrize("key", ["enter", "d"])
async def test_an_event_is_described(still: str, key: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "tab", key)
        assert isinstance(kdrill(pilot).screen, Describe)
        assert "loaded: 5 brokers, 15 topics" in text(pilot)


async def test_lists_are_filtered_while_one_types(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "a", "slash")
        total = rows(pilot, "findings").total
        seen = [total]
        for letter in "broker":
            await press(pilot, letter)
            seen.append(rows(pilot, "findings").total)
        assert seen == sorted(seen, reverse=True) and 0 < seen[-1] < total
        assert f"{seen[-1]} of {total}" in foot(pilot)
        await press(pilot, "escape")
        assert rows(pilot).total == total
        assert rows(pilot).list_name == "findings", "the focus is back where it was"


async def test_a_bad_filter_is_told_and_the_rows_stay(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "slash")
        await type_in(pilot, "orders re:(")
        assert rows(pilot, "partitions").total == 12
        assert "re:" in foot(pilot)
        await press(pilot, "escape")
        assert rows(pilot).total == 126


async def test_columns_are_sorted_by_in_turn_and_after_the_last_comes_the_lists_own_order(still: str) -> None:
    async with opened(still, size=(120, 30)) as pilot:
        names = [column.sort for column in rows(pilot, "brokers").answer.columns if column.sort]
        own = [row.key for row in rows(pilot, "brokers").answer.rows]
        for name in [*names, ""]:
            await press(pilot, "s")
            assert kdrill(pilot).view_state.of("brokers").sort == name
        assert [row.key for row in rows(pilot, "brokers").answer.rows] == own


async def test_a_sort_is_seen_in_the_header_and_can_be_reversed(still: str) -> None:
    async with opened(still) as pilot:
        while kdrill(pilot).view_state.of("brokers").sort != "replicas":
            await press(pilot, "s")
        counts = [int(row.cells[REPLICAS][0][0]) for row in rows(pilot).answer.rows]
        assert counts == sorted(counts) and "repl^" in text(pilot)
        await press(pilot, "S")
        assert [int(row.cells[REPLICAS][0][0]) for row in rows(pilot).answer.rows] == counts[::-1]
        assert "replv" in text(pilot)


async def test_the_cursor_goes_with_its_broker_when_the_order_changes(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "j", "j", "S")
        assert rows(pilot).cursor_key == "3"
        assert rows(pilot).cursor == 3


async def test_bars_take_the_place_of_the_table_and_give_it_back(still: str) -> None:
    async with opened(still) as pilot:
        before = text(pilot)
        await press(pilot, "v")
        assert "Leaders and replicas by broker" in text(pilot) and "in ISR" not in text(pilot)
        await press(pilot, "d")
        assert "broker 1" in text(pilot), "keys still mean the brokers"
        await press(pilot, "escape", "v")
        assert text(pilot) == before


async def test_where_there_is_room_bars_stand_below_the_table_and_nothing_is_cut_off(still: str) -> None:
    async with opened(still, size=(200, 60)) as pilot:
        lines = text(pilot).split("\n")
        top = next(place for place, line in enumerate(lines) if "Findings" in line)
        assert "Brokers" in lines[top]
        assert next(place for place, line in enumerate(lines) if "Leaders and replicas by broker" in line) > top
        told = [line.rpartition("│║")[0] or line.rpartition("││")[0] for line in lines[top + 2 : top + 18]]
        assert "no live replica: b5 down" in told[0] and sum("…" in line for line in told) <= 1, "a path at most"


async def test_in_the_least_terminal_tiles_findings_and_brokers_are_in_sight(still: str) -> None:
    async with opened(still) as pilot:
        lines = text(pilot).split("\n")
        assert [line for line in lines if "1 offline" in line and "10 under-repl" in line]
        assert [line for line in lines if "OFFLINE" in line and "dead-letters-4" in line]
        assert [line for line in lines if "★" in line and " 64 " in line] and [
            line for line in lines if "DOWN   " in line
        ]


async def test_names_and_rows_are_copied(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "j", "y")
        assert kdrill(pilot).clipboard == "2"
        assert "copied 1 character " in text(pilot)
        await press(pilot, "a", "y")
        assert kdrill(pilot).clipboard.startswith("OFFLINE  dead-letters-4  1/6  no live replica: b5 down")
        await press(pilot, "Y")
        assert kdrill(pilot).clipboard.startswith("5 brokers up  1 DOWN")
        await press(pilot, "d", "y")
        assert "what to do Bring broker 5 back." in kdrill(pilot).clipboard
