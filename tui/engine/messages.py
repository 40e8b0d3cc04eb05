"""What the UI process asks the data process, and what it is told. Values only; both processes load this.

Questions to the analyses name results that are kept: the same question is answered from what was worked out before;
another `take` of it is worked out on the cluster as it is then. `stopped`: it is not worked out further, since the
operator ended it.

In the ownership graph a row's key is the name of the consumer thread in it or, while the cursor is among the
partitions, the first partition of its node behind a sign.
"""

from typing import Literal

import msgspec

from tui.engine.requests import Request
from tui.engine.rows import Line, Window

SWEEPS = ("brokers", "pairs", "racks", "brokers-and-racks", "random")
"""Which scenarios a sweep goes through, in the order of the key."""


class SweepQuestion(msgspec.Struct, frozen=True, tag="sweep"):
    """A failure drill over the whole cluster."""

    kind: Literal["brokers", "pairs", "racks", "brokers-and-racks", "random"] = "brokers"
    unclean: bool = False
    take: int = 0
    stopped: bool = False


MOST_MADE_UP = 200
"""Consumers of a group that is made up: each dies in turn."""


class MadeUp(msgspec.Struct, frozen=True):
    """A consumer group that is not there: so many consumers that read the topics that match (`orders*`)."""

    patterns: tuple[str, ...]
    consumers: int

    @property
    def keys(self) -> tuple[str, str]:
        """Its keys in the lab: as brokers would coordinate it, and as one in ZooKeeper."""
        name = f"made-up {','.join(self.patterns)} by {self.consumers}"
        return name, f"{name} (zookeeper)"


class PreviewQuestion(msgspec.Struct, frozen=True, tag="preview"):
    """Every group under every strategy that its kind can use, when each consumer dies in turn, and when one joins."""

    made_up: MadeUp | None = None
    """A group that is to be previewed before those that there are."""
    take: int = 0
    stopped: bool = False


class PlanQuestion(msgspec.Struct, frozen=True, tag="plan"):
    """A replica plan; with `asked` False there is none yet."""

    remove: tuple[int, ...] = ()
    add: tuple[tuple[int, str], ...] = ()
    """(id, rack); the rack empty where the broker says it itself."""
    reach: Literal["balance", "forced", "racks", "leaders"] = "balance"
    by: Literal["count", "bytes"] = "count"
    tolerance_percent: float = 0.0
    replication_factor: int | None = None
    topics: tuple[str, ...] = ()
    """Patterns of the topics that may be touched; none: all, or those of a group."""
    topics_of: str = ""
    """Key of the group whose topics may be touched; empty: it is not about one."""
    left_out: tuple[int, ...] = ()
    """Numbers of the batches that the operator leaves out; the plan as such is the same."""
    asked: bool = False
    take: int = 0
    stopped: bool = False


Question = SweepQuestion | PreviewQuestion | PlanQuestion


class LabBench(msgspec.Struct, frozen=True):
    """What is tried on the group under the cursor: a consumer that dies, members that join, and with which strategy."""

    strategy: str = ""
    leaves: str = ""
    joins: int = 0


PARTITION = "\t"
"""Before a partition's name: `\\torders-3`."""
HOP = "\n"
"""Before the key of a row: the nearest neighbour of that node in the other layer is meant."""
BLANK = "\r"
"""Before the number of a row in which the cursor's layer has no node."""

NO_REPLAY = -1
"""The graph as it is; any other frame has what moved in it."""
LAST_FRAME = 5
"""Of a replay, which begins with frame 0: as it was before."""
STILL = 6
"""Before and after in one picture: both edges of whatever moved."""
FRAME_S = 0.25


def nearest_neighbour(key: str) -> str:
    """Where an edge leads from this row; nowhere from a blank one."""
    return "" if not key or key.startswith(BLANK) else HOP + key


def is_partition(key: str) -> bool:
    """Whether the cursor is among the partitions."""
    return key.startswith(PARTITION)


def name_in(key: str) -> str:
    """The thread or partition that a key means; empty for a blank row."""
    return "" if key.startswith(BLANK) else key.removeprefix(PARTITION)


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
    rests_ms: int = 0
    """For so long nothing is told while all is well: when a proof is late, that is told."""
    poll_ms: int = 0
    """How often brokers are asked; 0: changes are told."""
    generation: str = "unknown"
    controller: int | None = None
    controller_epoch: int | None = None
    brokers_up: int = 0
    brokers_down: int = 0
    brokers_unconfirmed: int = 0
    """Neither up nor DOWN: only old metadata names them."""
    topics: int = 0
    partitions: int = 0
    errors: int = 0
    warnings: int = 0
    acknowledged: tuple[int, int] = (0, 0)
    """Of the errors and the warnings, those that the operator knows of."""
    offline: int = 0
    """Partitions without a leader."""
    under_replicated: int = 0
    spark: str = ""
    """How Spark stands, one line; empty where nobody wants it."""
    allows_writes: bool = False
    """Whether the operator may do something to the cluster."""
    quorum: str = ""
    """Of a KRaft cluster in which nothing can be elected: how many voters are left, `1 of 3 voters answers`."""
    is_controller_told: bool = True
    """Whether the source tells who controls; else `controller` None does not mean that nobody does."""


class Notice(msgspec.Struct, frozen=True, array_like=True):
    """One line that the operator must not miss; another `number` is another one, 0 none."""

    number: int = 0
    text: str = ""


NO_NOTICE = Notice()


class Pulse(msgspec.Struct, frozen=True, tag=True):
    """Something changed; sent at most ten times a second. Visible panes ask again for what they show."""

    seq: int
    header: HeaderFacts
    fatal: str = ""
    """One line that ends the program: the source cannot be opened at all."""
    changes: int = 0
    """How many there were since the source was opened."""
    doing: str = ""
    """What is under way and takes a while, one line."""
    notice: Notice = NO_NOTICE
    """What became critical last."""
    steady: bool = False
    """Nothing else changed: panes need not ask again."""


class DrillPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be played on a copy of the cluster; another `take` of the same is played on the cluster as it is then.

    `racks_of`: these brokers die with everybody in their racks; `racks`: all in the racks of these names. After them
    those of `stop` leave by a controlled shutdown, then those of `start` start, who are dead. Times are ms;
    restart_after_ms None: nobody who dies or stops comes back.
    """

    kill: tuple[int, ...] = ()
    racks_of: tuple[int, ...] = ()
    racks: tuple[str, ...] = ()
    stop: tuple[int, ...] = ()
    start: tuple[int, ...] = ()
    unclean: bool = False
    session_timeout_ms: int | None = None
    """None: as the cluster has it."""
    restart_after_ms: int | None = None
    take: int = 0
    stopped: bool = False
    """Not to be played on: the operator stopped it."""


NO_DRILL = DrillPlan()
DIES, STOPS, STARTS, GONE = "K", "D", "U", "-"
"""The marks of brokers in a drill's list; GONE is dead before it begins, and stays so."""
NO_QUESTION = PreviewQuestion()
NO_BENCH = LabBench()
STOPPABLE = "esc stops it"
"""Stands in the note of what is being played or worked out."""


class ListQuery(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Rows of one list. `sort` names a column (empty: the list's own order); `key` is the row under the cursor."""

    list: str
    """brokers, partitions, topics, groups, group, znodes, events, effects, findings or admin-work; drill-brokers,
    drill-timeline, drill-map; sandbox-processes or sandbox-links; sweep-scenarios or sweep-heat; lab-groups,
    lab-strategies, lab-consumers or lab-partitions; plan-brokers, plan-changes or plan-batches; log-partitions,
    log-segments, log-batches, log-records or log-lookup."""
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
    """First broker column of the partition map; first row in view of the ownership graph."""
    frame: int = -1
    """How far the ownership graph's last rebalance is replayed, as `tui.engine.messages` has it; -1: as it is."""
    view: str = ""
    """Which of the list's forms: matrix or list, graph or table; or how far off: topics, brokers, racks."""
    drill: DrillPlan = NO_DRILL
    """For the lists of a drill: which."""
    moment: int = -1
    """For the lists of a drill: the row of its timeline that is looked at; -1: the last one."""
    question: Question = NO_QUESTION
    """For the lists of a sweep, the lab or a plan: what is asked."""
    bench: LabBench = NO_BENCH
    """For the lists of the lab: what is tried on the group in `scope`."""
    at: int = 0
    """The `seq` of the moment that is looked at; 0: the newest. Znodes, sandbox and analyses know the newest only."""
    column: str = ""
    """What is under the cursor that goes across a map, one of its Across.things; empty: there is no such cursor."""
    marked: tuple[str, ...] = ()
    """What the operator marked: brokers, `b3`, and racks, `rack:r1`."""


class TextQuery(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Lines about one thing: why a partition is as it is, a znode's payload, a broker's facts, a plot."""

    about: str
    """partition, znode, znode-history, broker, group, finding, event, overview, plot, controller, controller-broker or
    states; act; drill, drill-partition or drill-moment; sandbox or sandbox-process; sweep or sweep-scenario; lab or
    lab-group, lab-partition or lab-bars; plan or plan-review; log-partition, log-segment, log-batch, log-record or
    log-lookup."""
    key: str = ""
    view: str = ""
    """How; for `act` what is to be proposed."""
    width: int = 80
    height: int = 20
    drill: DrillPlan = NO_DRILL
    moment: int = -1
    question: Question = NO_QUESTION
    bench: LabBench = NO_BENCH
    at: int = 0
    request: Request | None = None
    """For `act`: what is asked to be done, where it is typed in the words of the command line."""


class TextAnswer(msgspec.Struct, frozen=True, array_like=True):
    """Lines to show; `plain` is the same thing as text for the clipboard."""

    title: str
    lines: tuple[Line, ...] = ()
    plain: str = ""
    ansi: str = ""
    """A ready plot with its colours, instead of lines."""


class Wish(msgspec.Struct, frozen=True, tag=True):
    """Something to break or to mend in the sandbox, or a file to write.

    The answer is a sentence that says what was done, or why not.
    """

    verb: str
    """One of `tui.engine.sandbox.service.WISHES`; or `plan`, `plan-batches`: write the plan in `question` to files;
    `act`: carry out what was proposed last, if `about` is what has to be typed for it."""
    about: str = ""
    """The key of a row of sandbox-processes or sandbox-links, or what was typed behind a command."""
    question: Question = NO_QUESTION
    at: int = 0
    """For `snapshot`: the moment that is looked at."""


Direction = Literal["now", "back", "on", "mark-before", "mark-after", "time", "event", "other"]
"""Where to, from the moment that is looked at: the newest, the next event or mark, a time, the moment of an event, or
the one that it is compared with."""


class TimeQuery(msgspec.Struct, frozen=True, tag=True):
    """Which moment to look at, seen from `at` (its `seq`; 0: the newest)."""

    to: Direction
    text: str = ""
    """The time as it was typed, the event's key, which kind of mark, or what to compare with."""
    at: int = 0


class TimeAnswer(msgspec.Struct, frozen=True, array_like=True):
    """A moment to look at; `seq` 0: there is none, and `said` is why, else what had just happened."""

    seq: int = 0
    clock: str = ""
    """`12:03:58`, UTC."""
    changes: int = 0
    """How many there were up to this moment."""
    said: str = ""
    header: HeaderFacts = HeaderFacts()


Query = ListQuery | TextQuery | Wish
Answer = Window | TextAnswer
