"""What passes between the UI process and the data process. Values only, cheap to import; both processes load this.

First of all an `Opening`: what to follow, and as whom, on the pipe, so that no secret is on a command line; `opened`
makes a source of one. What every session looks at is one source. A sandbox is started once, by the server; sessions
only watch it, as they would any cluster, through its ZooKeeper.

Then queries and answers, wishes and pulses. What each subject is asked is in its own `queries`;
`tui/engine/registry.py` says who answers it.
"""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import ClassVar, Literal

import msgspec

from model.hosts.client_security import KafkaSecurity, Tls
from model.hosts.zookeeper.settings import ReadLimits
from model.sandbox.messages import SandboxState
from model.sandbox.options import SandboxOptions
from tui.engine.rows import Line, Window

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
    polled: str = ""
    """Why brokers are asked although the metadata log could be followed, one clause."""
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
    voters_missing: int = 0
    """Of a KRaft cluster: how many voters cannot be counted on."""
    is_controller_told: bool = True
    """Whether the source tells who controls; else `controller` None does not mean that nobody does."""
    recording: str = ""
    """The folder of the recording that is open; empty for other sources."""


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


STOPPABLE = "esc stops it"
"""Stands in the note of what is being played or worked out."""


class ListQuery(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Rows of one list. Each list has a type of its own, with what it takes beside these."""

    name: ClassVar[str] = ""
    """The list, as screens, the view state and files call it."""
    first: int = 0
    count: int = 50
    filter: str = ""
    sort: str = ""
    """A column; empty: the list's own order."""
    reverse: bool = False
    key: str = ""
    """The row under the cursor."""
    width: int = 80
    """Cells the list may use."""

    @property
    def form(self) -> tuple[str, str]:
        """What the list is about, where it is about one thing, and in which of its views it is shown."""
        return getattr(self, "scope", ""), getattr(self, "view", "")


class TimedList(ListQuery, frozen=True, kw_only=True):
    """A list of the moment that is looked at."""

    at: int = 0
    """The moment's `seq`; 0: the newest."""


class TextQuery(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Lines about one thing. Each kind of thing has a type of its own."""

    name: ClassVar[str] = ""
    """The kind, as screens and the view state call it."""
    key: str = ""
    """Which one: a broker's id, the name of a topic, a partition, a group or a process, a path, the key of a row."""
    width: int = 80


class TimedText(TextQuery, frozen=True, kw_only=True):
    """A text about something as it was at the moment that is looked at."""

    at: int = 0
    """The moment's `seq`; 0: the newest."""


class PlotQuery(TextQuery, frozen=True, kw_only=True):
    """A plot of the size at hand; `mono`: without colours."""

    height: int = 20
    mono: bool = False


class PictureQuery(TextQuery, frozen=True, kw_only=True):
    """A drawing of the size at hand, in lines of styled text."""

    height: int = 20
    is_filled: bool = True
    """Whether cells can be told apart by the colour that fills them: not with sixteen colours or none, nor faded."""
    is_ascii: bool = False


class JobsText(TextQuery, frozen=True):
    """What is under way."""

    name = "jobs"


class Spot(msgspec.Struct, frozen=True, array_like=True):
    """Something in a picture that the cursor can be on: which, and where, in cells from the left upper corner."""

    key: str
    x: int
    y: int
    width: int
    height: int


class TextAnswer(msgspec.Struct, frozen=True, array_like=True):
    """Lines to show; `plain` is the same thing as text for the clipboard."""

    title: str
    lines: tuple[Line, ...] = ()
    plain: str = ""
    ansi: str = ""
    """A ready plot with its colours, instead of lines."""
    spots: tuple[Spot, ...] = ()
    """Of a picture, what the cursor can be on, in the order of reading; the title is the key of what it is on."""
    again_ms: int = 0
    """After this time it is another one although nothing changed: it counts seconds. 0: it does not."""
    wants: int = 0
    """Cells in which none of its lines would be broken, however wide it was asked for; 0: as its lines are."""


class ActionRequest(msgspec.Struct, frozen=True, tag=True):
    """Something to break or to mend in the sandbox, a file to write, a mark to make.

    The answer is a sentence that says what was done, or why not.
    """


class StopJobs(ActionRequest, frozen=True):
    """Ends what is under way."""


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


Query = ListQuery | TextQuery | ActionRequest | TimeQuery
Answer = Window | TextAnswer | TimeAnswer


ONLY_SHOWS = "in a browser kdrill only shows"
"""How each refusal begins where the opening `is_served`."""
NO_WISH = f"{ONLY_SHOWS}: nothing is written, broken or mended"


class Login(msgspec.Struct, frozen=True, kw_only=True):
    """How to log in to a secured ensemble and its brokers; empty for an open one."""

    credentials: tuple[tuple[str, str], ...] = ()
    """(scheme, secret), as ZooKeeper's addauth takes them."""
    sasl: dict[str, str] | None = None
    """Fields of `model.hosts.zookeeper.settings.Sasl`."""
    tls: Tls | None = None
    """For ZooKeeper; None for a plain connection."""
    kafka: KafkaSecurity | None = None
    """For brokers; None for a plain connection."""
    warnings: tuple[str, ...] = ()
    """Lines for the operator about the files that all this is from."""
    variables: tuple[str, ...] = ()
    """Environment variables that hold some of it: no child process needs them."""

    def __repr__(self) -> str:
        return "Login(***)"


NOBODY = Login()


class Patience(msgspec.Struct, frozen=True):
    """How long a command waits for its first picture."""

    timeout_s: float = 60.0
    """Since it began, or since anything arrived that is new."""
    begun_s: float = 0.0
    """When the command began, of a clock that only goes forward; 0 where that is not known."""


THIS_MACHINE = "local[*]"
"""The master of Spark where nobody named one: it starts when work is worth it, another one at once."""


class Opening(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """One source to follow."""

    source: str = ""
    """`zk://…` or a file's path; empty for the sandbox."""
    bootstrap: str = ""
    """`host:port[,…]` of brokers that are asked about consumer groups, beside the source; empty for none."""
    sandbox: SandboxOptions = SandboxOptions(load=True, rate=20.0)
    """What the sandbox is to be, where there is no source."""
    is_demo: bool = False
    """The demo tree, and neither source nor sandbox."""
    demo_began_ms: int = 0
    """When the script of the demo began that is the source; 0 where the source is no demo."""
    name: str = ""
    """What the operator's configuration calls the cluster; empty where it does not."""
    kind: str = ""
    """As in HeaderFacts, where another process has started the source: SANDBOX, DEMO."""
    is_served: bool = False
    """Shown in a browser: nothing is written or broken, and no file of this machine is read."""
    spark_master: str = ""
    """Where large analyses run, as `--spark-master` has it; empty: in this process, all of them. See THIS_MACHINE."""
    allow_writes: bool = False
    """The operator may do something to the cluster, one confirmed action after the other."""
    login: Login = NOBODY
    poll_s: float | None = None
    """Seconds between two looks at brokers; None for the source's own measure."""
    limits: ReadLimits = ReadLimits()
    """How much may be asked of a ZooKeeper at a time, and a second."""
    connect_timeout_s: float | None = None
    """How long the first connection may take; None for the source's own patience."""
    patience: Patience = Patience()
    """Of a command that looks once."""


class ServedSource(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a session has to know beyond its command line, which is the server's; no secrets. As in Opening."""

    source: str = ""
    bootstrap: str = ""
    name: str = ""
    kind: str = ""
    demo_began_ms: int = 0


async def served_source(opening: Opening, ends: AsyncExitStack, tell: Callable[[str], None]) -> ServedSource:
    """Starts what the opening needs, to be ended by `ends`; nothing where it names a source. Raises SandboxError."""
    if opening.is_demo:
        from model.sandbox.demo.demo import DemoSandbox  # noqa: PLC0415 - only the demo pays for it

        demo = DemoSandbox()
        await asyncio.to_thread(demo.open)
        ends.callback(demo.close)
        return ServedSource(demo.source, kind="DEMO", demo_began_ms=demo.began_ms)
    if opening.source:
        return ServedSource()
    from model.sandbox.control.client import SandboxClient  # noqa: PLC0415

    sandbox = SandboxClient(opening.sandbox)
    ends.push_async_callback(sandbox.close)
    tell("the sandbox is starting")
    ready = await sandbox.open(lambda event: tell(event.text), _ignore)
    return ServedSource(ready.source, ready.bootstrap, "sandbox", SANDBOX)


def watched(opening: Opening, known: str) -> Opening:
    """What a session opens; `known` is its Standing, as JSON."""
    stands = msgspec.json.decode(known, type=ServedSource)
    if stands.source:
        opening = msgspec.structs.replace(opening, is_demo=False, **msgspec.structs.asdict(stands))
    return msgspec.structs.replace(opening, is_served=True)


def _ignore(state: SandboxState) -> None:
    """Nobody looks at it here."""
