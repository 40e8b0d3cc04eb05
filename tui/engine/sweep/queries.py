"""What can be asked about drills over the whole cluster. Values; both processes load this."""

from tui.engine.messages import ListQuery, TextQuery
from tui.engine.questions import NO_SWEEP, SweepQuestion


class ScenarioList(ListQuery, frozen=True, kw_only=True):
    """Every scenario that is listed, the worst first."""

    name = "sweep-scenarios"
    question: SweepQuestion = NO_SWEEP


class HeatList(ListQuery, frozen=True, kw_only=True):
    name = "sweep-heat"
    question: SweepQuestion = NO_SWEEP
    offset: int = 0
    """First column in view."""
    column: str = ""
    """What the cursor that goes across the map is on."""


class SweepText(TextQuery, frozen=True, kw_only=True):
    """What the sweep says as a whole, and of the cell under the heat map's cursor, `("b1", "b4")`."""

    name = "sweep"
    question: SweepQuestion = NO_SWEEP
    cell: tuple[str, str] = ("", "")


class ScenarioText(TextQuery, frozen=True, kw_only=True):
    name = "sweep-scenario"
    question: SweepQuestion = NO_SWEEP
