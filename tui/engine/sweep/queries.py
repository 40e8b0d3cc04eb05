"""What can be asked about drills over the whole cluster. Values; both processes load this."""

from tui.engine.messages import ListQuery, TextQuery
from tui.engine.questions import NO_DEATHS, NO_SWEEP, DeathsQuestion, SweepQuestion


class ScenarioList(ListQuery, frozen=True, kw_only=True):
    """Every scenario that is listed, the worst first."""

    name = "sweep-scenarios"
    question: SweepQuestion = NO_SWEEP
    cell: tuple[str, str] = ("", "")
    """Of a fleet only what counts in this cell of the map; empty: everything."""


class DeathList(ListQuery, frozen=True, kw_only=True):
    """Every broker, and every rack of several, by what their failure would do; the worst first."""

    name = "drill-deaths"
    question: DeathsQuestion = NO_DEATHS


class HeatList(ListQuery, frozen=True, kw_only=True):
    name = "sweep-heat"
    question: SweepQuestion = NO_SWEEP
    offset: int = 0
    """First column in view."""
    column: str = ""
    """What the cursor that goes across the map is on."""
    is_filled: bool = True
    """Whether cells can be told apart by the colour that fills them."""


class SweepText(TextQuery, frozen=True, kw_only=True):
    """What the sweep says as a whole, and of the cell under the heat map's cursor, `("b1", "b4")`."""

    name = "sweep"
    question: SweepQuestion = NO_SWEEP
    cell: tuple[str, str] = ("", "")


class ScenarioText(TextQuery, frozen=True, kw_only=True):
    name = "sweep-scenario"
    question: SweepQuestion = NO_SWEEP


class DeathText(TextQuery, frozen=True, kw_only=True):
    """The scenario of the list of deaths whose name is the key."""

    name = "drill-death"
    question: DeathsQuestion = NO_DEATHS
