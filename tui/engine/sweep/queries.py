"""What can be asked about drills over the whole cluster. Values; both processes load this.

Questions to the analyses name results that are kept: the same question is answered from what was worked out before;
another `take` of it is worked out on the cluster as it is then. `stopped`: it is not worked out further, since the
operator ended it.
"""

from typing import Literal

import msgspec

from tui.engine.messages import ListQuery, TextQuery

SWEEPS = ("brokers", "pairs", "racks", "brokers-and-racks", "random")
"""Which scenarios a sweep goes through, in the order of the key."""


class SweepQuestion(msgspec.Struct, frozen=True, tag="sweep"):
    """A failure drill over the whole cluster."""

    kind: Literal["brokers", "pairs", "racks", "brokers-and-racks", "random"] = "brokers"
    unclean: bool = False
    take: int = 0
    stopped: bool = False


NO_SWEEP = SweepQuestion()


class ScenarioList(ListQuery, frozen=True, kw_only=True):
    """Every scenario that is listed, the worst first."""

    name = "sweep-scenarios"
    question: SweepQuestion = NO_SWEEP


class HeatList(ListQuery, frozen=True, kw_only=True):
    """The heat map of pairs."""

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
    """The scenario whose name is the key."""

    name = "sweep-scenario"
    question: SweepQuestion = NO_SWEEP
