"""What the operator chose to see, as one frozen value, and the pure function that changes it. Holds no cluster data."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tui.data.messages import NO_DRILL, DrillPlan

VIEWS: Mapping[str, tuple[str, ...]] = {
    "partitions": ("matrix", "list"),
    "group": ("graph", "table"),
    "brokers": ("table", "bars"),
    "znode": ("decoded", "raw"),
}
"""The forms that a list or text has, the first one to begin with."""


@dataclass(frozen=True)
class ListState:
    """How one list is looked at."""

    filter: str = ""
    sort: str = ""
    reverse: bool = False
    view: str = ""
    scope: str = ""
    offset: int = 0
    opened: tuple[str, ...] = ()


@dataclass(frozen=True)
class ViewState:
    """Everything the operator chose, by list."""

    lists: Mapping[str, ListState] = field(default_factory=dict[str, ListState])
    drills: tuple[DrillPlan, ...] = (NO_DRILL,)
    """What was played, and last what is played now."""
    moment: int = -1
    """The row of the drill's timeline that is looked at; -1: the last one."""

    @property
    def drill(self) -> DrillPlan:
        """What is played."""
        return self.drills[-1]

    def of(self, name: str) -> ListState:
        """How this list is looked at."""
        return self.lists.get(name) or ListState(view=VIEWS.get(name, ("",))[0])


@dataclass(frozen=True)
class Intent:
    """Something the operator wants of one list."""

    list: str


@dataclass(frozen=True)
class Filter(Intent):
    """Show only what matches."""

    text: str


@dataclass(frozen=True)
class Sort(Intent):
    """Put the rows in the order of this column; the same column again goes back to the list's own order."""

    column: str


@dataclass(frozen=True)
class Reverse(Intent):
    """Turn the order round."""


@dataclass(frozen=True)
class SwitchView(Intent):
    """Show the list in its next form."""


@dataclass(frozen=True)
class Narrow(Intent):
    """Make the list about this one thing."""

    scope: str


@dataclass(frozen=True)
class MoveBrokers(Intent):
    """Show the partition map from another broker on."""

    by: int


@dataclass(frozen=True)
class Open(Intent):
    """Open branches of the tree."""

    paths: tuple[str, ...]


@dataclass(frozen=True)
class Close(Intent):
    """Close a branch of the tree, and with it what is open below."""

    path: str


def reduce(state: ViewState, intent: Intent) -> ViewState:
    """The state after an intent."""
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
            views = VIEWS.get(name, ("",))
            return replace(now, view=views[(views.index(now.view) + 1) % len(views)])
        case Narrow(scope=scope):
            return replace(now, scope=scope)
        case MoveBrokers(by=by):
            return replace(now, offset=max(now.offset + by, 0))
        case Open(paths=paths):
            return replace(now, opened=tuple(dict.fromkeys((*now.opened, *paths))))
        case Close(path=path):
            kept = (p for p in now.opened if p != path and not p.startswith(path.rstrip("/") + "/"))
            return replace(now, opened=tuple(kept))
        case _:
            raise TypeError(f"no such intent: {intent!r}")
