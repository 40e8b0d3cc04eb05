"""What can be asked about drills: one that is played, and those over the whole cluster. Both processes load this."""

import msgspec

from tui.engine.messages import ListQuery, PictureQuery, TextQuery
from tui.engine.questions import NO_DEATHS, NO_DRILL, NO_SWEEP, DeathsQuestion, DrillPlan, SweepQuestion

DIES, STOPS, STARTS, LOSES, GONE = "K", "D", "U", "X", "-"
"""The marks of brokers in a drill's list; GONE is dead before it begins, and stays so."""


class AtSecond(msgspec.Struct, frozen=True, tag=True):
    """The last moment by that second after the deaths."""

    second: float


class ToMark(msgspec.Struct, frozen=True, tag=True):
    """The next moment that is worth a jump after this one, or before it."""

    moment: int
    back: bool = False


class InCell(msgspec.Struct, frozen=True, tag=True):
    """The moment in a cell of a picture of the course that has this width."""

    cell: int
    width: int


class DrillBrokerList(ListQuery, frozen=True, kw_only=True):
    """Every broker, at a moment of the drill."""

    name = "drill-brokers"
    drill: DrillPlan = NO_DRILL
    moment: int = -1
    """The row of the timeline that is looked at; -1: the last one. Here and below."""
    marked: tuple[str, ...] = ()
    """What the operator marked: brokers, `b3`, and racks, `rack:r1`."""


class DrillTimelineList(ListQuery, frozen=True, kw_only=True):
    """Every moment; its key is its number."""

    name = "drill-timeline"
    drill: DrillPlan = NO_DRILL
    seek: AtSecond | ToMark | InCell | None = None
    """The moment that is meant, instead of a key."""


class DrillMapList(ListQuery, frozen=True, kw_only=True):
    name = "drill-map"
    drill: DrillPlan = NO_DRILL
    moment: int = -1
    marked: tuple[str, ...] = ()
    offset: int = 0
    """First broker column of the map."""
    column: str = ""
    """What the cursor that goes across the map is on; empty: there is no such cursor."""


class DrillText(TextQuery, frozen=True, kw_only=True):
    name = "drill"
    drill: DrillPlan = NO_DRILL
    moment: int = -1


class DrillStepText(DrillText, frozen=True):
    """The step that is looked at, in short."""

    name = "drill-step"


class CoursePicture(PictureQuery, frozen=True, kw_only=True):
    """How the cluster fared over the time of the drill, and the scrubber on the same axis."""

    name = "drill-course"
    drill: DrillPlan = NO_DRILL
    moment: int = -1


class DrillMomentText(TextQuery, frozen=True, kw_only=True):
    """The step whose number is the key, in full."""

    name = "drill-moment"
    drill: DrillPlan = NO_DRILL


class DrillPartitionText(DrillMomentText, frozen=True):
    name = "drill-partition"


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
