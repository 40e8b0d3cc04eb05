"""The partition map: what it shows of each broker, and the reason beside it."""

from tests.tui.dashboard import kdrill, mode, opened, press, rows, text, type_in


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


async def test_the_map_moves_over_the_brokers_where_not_all_fit(still: str) -> None:
    async with opened(still, size=(64, 24)) as pilot:
        await press(pilot, "3")
        first = rows(pilot).answer.columns[1].title
        await press(pilot, "right_parenthesis")
        further = rows(pilot).answer.columns[1].title
        assert first.startswith("b1") and not further.startswith("b1")
        await press(pilot, "left_parenthesis")
        assert rows(pilot).answer.columns[1].title == first


async def test_the_list_takes_the_place_of_the_map(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "v")
        assert [column.title for column in rows(pilot).answer.columns[1:3]] == ["leader", "replicas"]
        assert "Map:" not in text(pilot)
        await press(pilot, "v")
        assert "Map: L leader" in text(pilot)


async def test_the_last_partition_is_one_key_away_and_the_first_another(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "G")
        assert (rows(pilot).cursor, rows(pilot).cursor_key) == (125, "shipments-8")
        await press(pilot, "ctrl+u", "ctrl+u")
        assert rows(pilot).cursor == 115
        await press(pilot, "pagedown", "g")
        assert rows(pilot).cursor_key == "__consumer_offsets-0"


async def test_a_filter_by_field_finds_what_is_under_replicated(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "slash")
        await type_in(pilot, "state:under topic:orders")
        await press(pilot, "enter")
        assert rows(pilot).cursor_key == "orders-7"
        assert "1 of 126" in text(pilot).split("\n")[-1]


async def test_what_matches_nothing_is_said_so_and_the_reason_beside_goes(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "slash")
        await type_in(pilot, "nosuchtopic")
        assert "nothing matches the filter" in text(pilot)
        assert rows(pilot, "partitions").cursor_key == ""
        assert "__consumer_offsets-0" not in text(pilot)
        await press(pilot, "escape")
        assert rows(pilot).total == 126


async def test_the_filter_is_kept_when_one_comes_back(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "3", "slash")
        await type_in(pilot, "clicks")
        await press(pilot, "enter", "j", "2", "3")
        assert (rows(pilot).total, rows(pilot).cursor_key) == (18, "clicks-1")
