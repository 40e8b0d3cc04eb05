"""What would move, drawn on the ownership graph in the lab, and never taken for what is."""

from textual.pilot import Pilot

from tests.tui.dashboard import kdrill, mode, opened, press, rows, text, until
from tui.app.panes.map_panes import LabGraph
from tui.engine.queries import STILL

SIZE = (130, 44)


async def shown(pilot: Pilot[int], *keys: str) -> LabGraph:
    """The graph of the group billing in the lab, after these keys."""
    await press(pilot, "5")
    await until(pilot, lambda: rows(pilot, "lab-groups").total == 2)
    await press(pilot, "j")
    await until(pilot, lambda: rows(pilot, "lab-consumers").total == 3)
    await press(pilot, *keys, "V")
    graph = kdrill(pilot).screen.query_one(LabGraph)
    await until(pilot, lambda: graph.total)
    return graph


async def test_what_would_move_is_drawn_and_called_simulated(still: str) -> None:
    async with opened(still, size=SIZE) as pilot:
        kdrill(pilot).animation_level = "none"
        graph = await shown(pilot, "J")
        await until(pilot, lambda: "+ c4 new-1" in text(pilot) and "~ payments 11  was nobody" in text(pilot))
        lines = text(pilot).split("\n")
        assert "SIMULATED" in lines[0]
        assert any("SIMULATED: what would move" in line for line in lines)
        assert any("SIMULATED zk-range: 0 would move, 1 be taken up" in line for line in lines)
        assert "═>" in text(pilot) and graph.has_focus
        await press(pilot, "V")
        await until(pilot, lambda: "what would move" not in text(pilot))
        assert rows(pilot).list_name == "lab-consumers"


async def test_the_consumer_under_the_cursor_dies_and_its_partitions_go_to_others(still: str) -> None:
    async with opened(still, size=SIZE) as pilot:
        graph = await shown(pilot)
        await until(pilot, lambda: graph.cursor_key.startswith("billing_"))
        consumer = graph.cursor_key.rpartition("-")[0]
        await press(pilot, "K")
        assert kdrill(pilot).view_state.trial.leaves == consumer
        await until(pilot, lambda: graph.row is not None and graph.answer.rows[0].mark == "X")
        assert mode(pilot) == "lab"


async def test_a_preview_is_played_from_before_to_after(still: str) -> None:
    async with opened(still, size=SIZE) as pilot:
        kdrill(pilot).animation_level = "full"
        graph = await shown(pilot, "J")
        await until(pilot, lambda: graph.frame == STILL)
        graph.replay()
        assert graph.frame == 0
        await until(pilot, lambda: graph.frame == STILL)
