"""What the operator chose to see, as one frozen value, and the pure function that changes it. Holds no cluster data."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from tui.engine.messages import Query
from tui.engine.questions import (
    NO_DRILL,
    NO_FORECAST,
    NO_HISTORY,
    NO_PLAN,
    NO_QUESTION,
    NO_SWEEP,
    NO_TRIAL,
    PLAYED,
    DeathsQuestion,
    DrillPlan,
    ForecastQuestion,
    HistoryQuestion,
    LabTrial,
    PlanQuestion,
    PreviewQuestion,
    SweepQuestion,
)

VIEWS: Mapping[str, tuple[str, ...]] = {
    "partitions": ("matrix", "list"),
    "group": ("graph", "table"),
    "brokers": ("table", "bars"),
    "lab-consumers": ("flow", "partitions", "bars", "groups"),
    "lab-graph": ("graph",),
    "plan-review": ("changes", "verdict", "forward", "rollback"),
    "log-segments": ("table", "bars"),
    "znode": ("decoded", "raw", "history"),
    "cluster-picture": ("picture", "lists"),
    "drill-map": ("map", "step", "summary"),
    "history-hours": ("lost", "churn"),
}
"""The forms that a list or text has, the first one to begin with."""

LEVELS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "partitions": (VIEWS["partitions"], ("topics", "topics-other"), ("brokers",), ("racks",)),
    "group": (VIEWS["group"], ("graph-ranges",), ("graph-topics",), ("graph-partitions",)),
}
"""Lists that can be looked at from farther away: their forms at each distance, the nearest first."""


@dataclass(frozen=True)
class ListState:
    """How one list is looked at."""

    filter: str = ""
    sort: str = ""
    reverse: bool = False
    view: str = ""
    scope: str = ""
    offset: int = 0
    column: str = ""
    """What the column cursor of a map is on, one of its Across.things; empty: there is none."""
    opened: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    """The views in which other distances were left."""


@dataclass(frozen=True)
class ViewState:
    """Everything the operator chose, by list."""

    lists: Mapping[str, ListState] = field(default_factory=dict[str, ListState])
    drills: tuple[DrillPlan, ...] = (NO_DRILL,)
    """What was played, and last what is played now."""
    moment: int = -1
    """The row of the drill's timeline that is looked at; -1: the last one."""
    marked: tuple[str, ...] = ()
    """Brokers, `b3`, and racks, `rack:r1`, that the operator marked on a map."""
    sweep: SweepQuestion = NO_SWEEP
    preview: PreviewQuestion = NO_QUESTION
    trial: LabTrial = NO_TRIAL
    played: int = PLAYED
    """How far what is tried is played, in frames from now to then."""
    plan: PlanQuestion = NO_PLAN
    history: HistoryQuestion = NO_HISTORY
    recorded: int = 0
    """Which of the clusters that are recorded in a folder is shown, counted on past the last."""
    forecast: ForecastQuestion = NO_FORECAST
    at: int = 0
    """The `seq` of the moment of the cluster that is looked at; 0: the newest."""

    @property
    def drill(self) -> DrillPlan:
        """The drill that is played: the latest one."""
        return self.drills[-1]

    @property
    def deaths(self) -> DeathsQuestion:
        """Which failures would be worst, under the policy of the drill."""
        return DeathsQuestion(unclean=self.drill.unclean, stopped=self.drill.stopped)

    def of(self, name: str) -> ListState:
        """How this list is looked at."""
        return self.lists.get(name) or ListState(view=VIEWS.get(name, ("",))[0])

    def asks(self, query: Query) -> dict[str, Any]:
        """What the operator chose of a query's fields: those that are here by the same name, or in its list's part."""
        mine, known = self.of(getattr(query, "name", "")), type(query).__struct_fields__
        chosen = {name: getattr(mine, name) for name in known if name in _OF_LIST}
        chosen |= {name: getattr(self, name) for name in known if name in _OF_ALL}
        if "question" in known:
            asked = getattr(query, "question")  # noqa: B009 - its type says which of them
            questions = (self.sweep, self.deaths, self.preview, self.plan, self.history, self.forecast)
            chosen["question"] = next(one for one in questions if type(one) is type(asked))
        return chosen


_OF_LIST = frozenset(each.name for each in fields(ListState))
_OF_ALL = frozenset({"drill", "moment", "marked", "trial", "played", "recorded", "at"})


@dataclass(frozen=True)
class Intent:
    """Something the operator wants of one list."""

    list: str


@dataclass(frozen=True)
class Filter(Intent):
    """Show only the rows that match."""

    text: str


@dataclass(frozen=True)
class Sort(Intent):
    """Put the rows in the order of this column; the same column again goes back to the list's own order."""

    column: str


@dataclass(frozen=True)
class Reverse(Intent):
    """Reverse the order of the rows."""


@dataclass(frozen=True)
class SwitchView(Intent):
    """Show the list in its next form."""


@dataclass(frozen=True)
class Zoom(Intent):
    """Look at the list from this distance, one of LEVELS, in the view in which it was left."""

    level: int


@dataclass(frozen=True)
class Narrow(Intent):
    """Make the list about this one thing."""

    scope: str


@dataclass(frozen=True)
class MoveBrokers(Intent):
    """Show the partition map from another broker on."""

    by: int


@dataclass(frozen=True)
class StandOn(Intent):
    """Put the map's column cursor on this; empty: take it away."""

    column: str


@dataclass(frozen=True)
class Open(Intent):
    """Open branches of the tree."""

    paths: tuple[str, ...]


@dataclass(frozen=True)
class Close(Intent):
    """Close a branch of the tree, and with it what is open below."""

    path: str


def level_of(name: str, view: str) -> int:
    """From which distance a list is looked at in this view."""
    return next((level for level, views in enumerate(_levels(name)) if view in views), 0)


def _levels(name: str) -> tuple[tuple[str, ...], ...]:
    return LEVELS.get(name, (VIEWS.get(name, ("",)),))


def reduce(state: ViewState, intent: Intent) -> ViewState:
    """The view state after an intent."""
    after = _reduced(intent.list, state.of(intent.list), intent)
    return replace(state, lists={**state.lists, intent.list: after})


def _reduced(name: str, now: ListState, intent: Intent) -> ListState:
    match intent:
        case Filter(text=text):
            return replace(now, filter=text)
        case Sort(column=column):
            return replace(now, sort="" if now.sort == column else column, reverse=False)
        case Reverse():
            return replace(now, reverse=not now.reverse)
        case SwitchView():
            views = _levels(name)[level_of(name, now.view)]
            return replace(now, view=views[(views.index(now.view) + 1) % len(views)])
        case Zoom(level=level):
            return now if level == level_of(name, now.view) else _zoomed(name, now, level)
        case Narrow(scope=scope):
            return replace(now, scope=scope)
        case MoveBrokers(by=by):
            return replace(now, offset=max(now.offset + by, 0))
        case StandOn(column=column):
            return replace(now, column=column)
        case Open(paths=paths):
            return replace(now, opened=tuple(dict.fromkeys((*now.opened, *paths))))
        case Close(path=path):
            kept = (p for p in now.opened if p != path and not p.startswith(path.rstrip("/") + "/"))
            return replace(now, opened=tuple(kept))
        case _:
            raise TypeError(f"no such intent: {intent!r}")


def _zoomed(name: str, now: ListState, level: int) -> ListState:
    views = _levels(name)[level]
    left = tuple(view for view in now.left if level_of(name, view) != level_of(name, now.view))
    return replace(now, view=next((view for view in left if view in views), views[0]), left=(*left, now.view))
