"""Groups, and the ownership graph of the one under the cursor."""

from typing import cast

from textual.pilot import Pilot

from model.zookeeper import SetData
from tests.tui.conftest import Cluster
from tests.tui.dashboard import kdrill, mode, opened, press, rows, text, type_in, until
from tui.app.panes.map_panes import OwnershipGraph
from tui.engine.link import DataLink
from tui.engine.messages import ListQuery
from tui.engine.queries import STILL, OwnershipList
from tui.engine.rows import Window


async def test_the_graph_is_that_of_the_group_under_the_cursor(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "4")
        assert "Ownership of audit-archiver" in text(pilot)
        assert rows(pilot, "group").answer.rows[0].mark == "!", "the idle thread comes first"
        await press(pilot, "j")
        assert "Ownership of billing" in text(pilot)
        await until(pilot, lambda: "X payments 11  no owner" in text(pilot))
        await until(pilot, lambda: "━━   payments 0 " in text(pilot) and "──   payments 2 " in text(pilot))


async def test_enter_goes_into_the_graph_and_its_focus_moves(still: str) -> None:
    async with opened(still, size=(120, 30)) as pilot:
        await press(pilot, "4", "j", "enter")
        graph = rows(pilot)
        assert graph.list_name == "group" and graph.cursor_key.startswith("billing_billing-1-")
        await until(pilot, lambda: "━━━━   payments 1 " in text(pilot))
        await press(pilot, "j")
        assert graph.cursor_key.endswith("-1"), "rows without an owner are left out"
        await until(pilot, lambda: "━━━━   payments 3 " in text(pilot) and "━━━━   payments 1 " not in text(pilot))


async def test_enter_hops_to_a_partition_and_back_to_its_owner(still: str) -> None:
    async with opened(still, size=(120, 30)) as pilot:
        await press(pilot, "4", "j", "enter", "j")
        graph = rows(pilot)
        owner = graph.cursor_key
        await press(pilot, "enter")
        await until(pilot, lambda: graph.cursor_key == "\tpayments-2")
        assert ">  payments 2" in text(pilot)
        await press(pilot, "j", "j", "y")
        assert kdrill(pilot).clipboard == "payments-4"
        await press(pilot, "k", "h")
        await until(pilot, lambda: graph.cursor_key == owner)
        await press(pilot, "l", "o")
        assert mode(pilot) == "partitions"
        await until(pilot, lambda: rows(pilot, "partitions").cursor_key == "payments-2")


async def test_partitions_are_collapsed_by_a_key_and_the_cursor_stays(still: str) -> None:
    async with opened(still, size=(120, 30)) as pilot:
        await press(pilot, "4", "j", "enter", "j")
        owner = rows(pilot).cursor_key
        await press(pilot, "z")
        await until(pilot, lambda: "payments 2-3" in text(pilot))
        assert rows(pilot).cursor_key == owner
        await press(pilot, "z")
        await until(pilot, lambda: "payments 2/12 2-3" in text(pilot))
        await press(pilot, "z", "z")
        await until(pilot, lambda: "payments 3 " in text(pilot))
        assert rows(pilot).cursor_key == owner


async def test_in_ascii_the_strong_edges_have_signs_of_their_own(still: str) -> None:
    async with opened(still, size=(120, 30), ascii_only=True) as pilot:
        await press(pilot, "4", "j")
        await until(pilot, lambda: "====   payments 0 " in text(pilot))
        assert "----   payments 2 " in text(pilot) and text(pilot).isascii()


class Listening:
    """A link that remembers which frames were asked for."""

    def __init__(self, link: DataLink) -> None:
        self._link = link
        self.frames: list[int] = []

    async def rows(self, query: ListQuery) -> Window:
        if isinstance(query, OwnershipList):
            self.frames.append(query.frame)
        return await self._link.rows(query)

    def __getattr__(self, name: str) -> object:
        return getattr(self._link, name)


async def move_a_partition(pilot: Pilot[int], cluster: Cluster) -> None:
    """The idle thread of audit-archiver takes audit-log-0 over; waits for the rebalance to be seen."""
    await press(pilot, "4")
    graph = rows(pilot, "group")
    await until(pilot, lambda: graph.answer.rows and graph.answer.rows[0].mark == "!")
    cluster.write(SetData("/consumers/audit-archiver/owners/audit-log/0", graph.answer.rows[0].key.encode()))
    await until(pilot, lambda: graph.answer.turn)


async def test_a_rebalance_that_happens_is_shown_before_and_after(cluster: Cluster) -> None:
    async with opened(cluster.address, size=(120, 30)) as pilot:
        kdrill(pilot).animation_level = "none"
        await press(pilot, "4", "V")
        assert "no rebalance of this group" in text(pilot)
        await move_a_partition(pilot, cluster)
        await until(pilot, lambda: "~ audit-log 0  was " in text(pilot) and "1 moved" in text(pilot))
        assert "═>" in text(pilot) and "┄" in text(pilot)
        await press(pilot, "escape")
        await until(pilot, lambda: "1 moved" not in text(pilot))
        assert mode(pilot) == "consumers"
        await press(pilot, "V")
        await until(pilot, lambda: "~ audit-log 0  was " in text(pilot))


async def test_a_replay_takes_a_few_frames_and_then_nothing_is_asked(cluster: Cluster) -> None:
    listening: list[Listening] = []

    def listen(link: DataLink) -> DataLink:
        listening.append(Listening(link))
        return cast(DataLink, listening[0])

    async with opened(cluster.address, size=(120, 30), link=listen) as pilot:
        kdrill(pilot).animation_level = "full"
        await move_a_partition(pilot, cluster)
        graph = kdrill(pilot).screen.query_one(OwnershipGraph)
        await until(pilot, lambda: graph.frame == STILL)
        await until(pilot, lambda: listening[0].frames[-1] == STILL)
        played = [frame for frame in listening[0].frames if frame >= 0]
        assert played == sorted(played) and len(set(played)) >= 3


async def test_the_table_takes_the_place_of_the_graph(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "4", "j", "v")
        assert "payments 0-1" in text(pilot) and "payments 10" in text(pilot)
        assert "──" not in "".join(text(pilot).split("\n")[11:20])
        await press(pilot, "v")
        await until(pilot, lambda: "──   payments 2 " in text(pilot))


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
