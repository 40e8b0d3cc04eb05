"""What the UI process asks the data process, and what it is told. Values only; `link` and `process` carry them."""

import msgspec

from tui.rows import Line, Window

SANDBOX = "SANDBOX"


class HeaderFacts(msgspec.Struct, frozen=True):
    """Row one of every screen: which cluster, may I write, how old, is the link good, who controls, what is wrong."""

    cluster: str = ""
    source: str = ""
    phase: str = "connecting"
    """starting (a sandbox), connecting, loading, live, stale, denied, snapshot or closed."""
    kind: str = ""
    """SANDBOX, `DEMO`, or empty: what the cluster is, where it is not simply a cluster."""
    reason: str = ""
    """Why the phase is what it is, or what starts, one line; empty when live."""
    since_ms: int = 0
    """When this phase began."""
    image_time_ms: int = 0
    """When the cluster was last known to look like this; 0 before the first image."""
    progress: tuple[int, int] = (0, 0)
    zookeeper: str = ""
    """The server behind the connection: `host:port 3.9.5 standalone`."""
    generation: str = "unknown"
    controller: int | None = None
    controller_epoch: int | None = None
    brokers_up: int = 0
    brokers_down: int = 0
    topics: int = 0
    partitions: int = 0
    errors: int = 0
    warnings: int = 0
    offline: int = 0
    """Partitions without a leader."""
    under_replicated: int = 0


class Pulse(msgspec.Struct, frozen=True, tag=True):
    """Something changed; sent at most ten times a second. Visible panes ask again for what they show."""

    seq: int
    header: HeaderFacts
    fatal: str = ""
    """One line that ends the program: the source cannot be opened at all."""


class DrillPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be played on a copy of the cluster; another `take` of the same is played on the cluster as it is then.

    `racks_of`: these brokers die with everybody in their racks. Times are ms; restart_after_ms None: nobody comes back.
    """

    kill: tuple[int, ...] = ()
    racks_of: tuple[int, ...] = ()
    unclean: bool = False
    session_timeout_ms: int = 18_000
    restart_after_ms: int | None = None
    take: int = 0
    stopped: bool = False
    """Not to be played on: the operator stopped it."""


NO_DRILL = DrillPlan()
STOPPABLE = "esc stops it"
"""Stands in the note of a drill that is being played."""


class ListQuery(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Rows of one list. `sort` names a column (empty: the list's own order); `key` is the row under the cursor."""

    list: str
    """brokers, partitions, topics, groups, group, znodes, events, effects or findings; drill-brokers, drill-timeline,
    drill-map; sandbox-processes or sandbox-links."""
    first: int = 0
    count: int = 50
    filter: str = ""
    sort: str = ""
    reverse: bool = False
    key: str = ""
    width: int = 80
    """Cells the list may use; the partition map shows as many brokers as fit."""
    scope: str = ""
    """What the list is about where it is about one thing: a group's name."""
    opened: tuple[str, ...] = ()
    """Paths of the znodes that are open."""
    offset: int = 0
    """First broker column of the partition map."""
    view: str = ""
    """Which of the list's forms: matrix or list, graph or table."""
    drill: DrillPlan = NO_DRILL
    """For the lists of a drill: which."""
    moment: int = -1
    """For the lists of a drill: the row of its timeline that is looked at; -1: the last one."""


class TextQuery(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Lines about one thing: why a partition is as it is, a znode's payload, a broker's facts, a plot."""

    about: str
    """partition, znode, broker, group, finding, event, overview or plot; drill, drill-partition or drill-moment;
    sandbox or sandbox-process."""
    key: str = ""
    view: str = ""
    width: int = 80
    height: int = 20
    drill: DrillPlan = NO_DRILL
    moment: int = -1


class TextAnswer(msgspec.Struct, frozen=True, array_like=True):
    """Lines to show; `plain` is the same thing as text for the clipboard."""

    title: str
    lines: tuple[Line, ...] = ()
    plain: str = ""
    ansi: str = ""
    """A ready plot with its colours, instead of lines."""


class Wish(msgspec.Struct, frozen=True, tag=True):
    """Something to break or to mend in the sandbox, answered by a sentence that says what was done, or why not."""

    verb: str
    """One of `tui.data.sandbox.wishes.WISHES`."""
    about: str = ""
    """The key of a row of sandbox-processes or sandbox-links, or what was typed behind a command."""


Query = ListQuery | TextQuery | Wish
Answer = Window | TextAnswer
