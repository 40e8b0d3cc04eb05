"""Groups, and the ownership graph of the one under the cursor."""

from tests.tui.dashboard import kdrill, mode, opened, press, rows, text, type_in


async def test_the_graph_is_that_of_the_group_under_the_cursor(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "4")
        assert "Ownership of audit-archiver" in text(pilot)
        assert rows(pilot, "group").answer.rows[0].mark == "!", "the idle thread comes first"
        await press(pilot, "j")
        assert "Ownership of billing" in text(pilot)
        assert rows(pilot, "group").answer.rows[0].key == "no owner"


async def test_enter_goes_into_the_graph_and_its_focus_moves(still: str) -> None:
    async with opened(still, size=(120, 30)) as pilot:
        await press(pilot, "4", "j", "enter")
        assert rows(pilot).list_name == "group"
        assert "---" in text(pilot) and "payments" in text(pilot)
        first = text(pilot)
        await press(pilot, "j")
        assert rows(pilot).cursor == 1
        assert text(pilot) != first, "what the thread under the cursor owns stands beside it"


async def test_the_table_takes_the_place_of_the_graph(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "4", "j", "v")
        assert "payments 0-1" in text(pilot) and "payments 10" in text(pilot)
        await press(pilot, "v")
        assert "payments 0-1" not in text(pilot)


async def test_a_group_and_a_thread_lead_to_their_znodes(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "4", "j", "o")
        assert (mode(pilot), rows(pilot).cursor_key) == ("znodes", "/consumers/billing")
        await press(pilot, "minus", "enter", "j", "o")
        assert rows(pilot).cursor_key.startswith("/consumers/billing/ids/billing_billing-1-")
        assert rows(pilot).row is not None, "there is such a znode"


async def test_a_group_is_described_and_its_name_copied(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "4", "j", "y", "d")
        assert kdrill(pilot).clipboard == "billing"
        assert "group billing" in text(pilot).split("\n")[1]
        assert "1 of 12 partitions of payments owned by nobody: 11" in " ".join(text(pilot).split())


async def test_groups_are_filtered_and_the_graph_follows(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "4", "slash")
        await type_in(pilot, "bill")
        assert rows(pilot, "groups").total == 1
        assert "Ownership of billing" in text(pilot)
        await press(pilot, "enter")
        kdrill(pilot).show_group("audit-archiver")
        await press(pilot, "r")
        assert rows(pilot, "groups").cursor_key == "audit-archiver", "a filter does not hide what one goes to"


async def test_each_pane_has_a_filter_of_its_own(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "4", "j", "enter", "slash")
        await type_in(pilot, "state:ok")
        await press(pilot, "enter")
        assert kdrill(pilot).view_state.of("group").filter == "state:ok"
        assert "no owner" not in {row.key for row in rows(pilot).answer.rows}
        await press(pilot, "tab")
        assert (rows(pilot).list_name, rows(pilot).total) == ("groups", 2)
