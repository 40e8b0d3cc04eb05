"""What a sandbox says of itself, and what its processes and their owners say to each other.

The control process and its client (`model.hosts.child_process`): the client's first message is SandboxOptions; then
come orders. The process tells once that it is ready, or failed, and at any time events and states. Events are numbered,
with times, and passed to whoever listens; only the last number is remembered. The load's process and the sandbox:
orders, facts, and an audit, which says what became of every record that was acknowledged. Values otherwise: nothing is
started or checked on disk here.
"""

import time
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from model.sandbox.faults import Deed, Fault, Place, Repair

ConsumerStatus = Literal["joining", "consuming", "stopped"]


class LostRecords(msgspec.Struct, frozen=True, kw_only=True):
    """Acknowledged records of one partition that are in its log no more: the numbers first to last, both included."""

    partition: str
    first_number: int
    last_number: int
    first_offset: int
    """Where they were, as the acknowledgement said."""
    last_offset: int
    acknowledged_from_ms: int
    acknowledged_to_ms: int


class OddRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record that is in the log twice, or behind a later one."""

    partition: str
    number: int
    offsets: tuple[int, ...]


class AuditReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a read of all partitions proved."""

    format: str = "kdrill.audit/1"
    acknowledged: int
    found: int
    lost: int
    duplicated: int
    reordered: int
    unacknowledged_found: int = 0
    """Records in the log that nobody was told of: an answer was lost. No harm."""
    lost_records: tuple[LostRecords, ...] = ()
    duplicated_records: tuple[OddRecord, ...] = ()
    """The first 1,000."""
    reordered_records: tuple[OddRecord, ...] = ()
    """The first 1,000."""
    unread: tuple[str, ...] = ()
    """Partitions that could not be read, and why: nothing is said about them."""

    @property
    def is_clean(self) -> bool:
        """Whether all was read, and nothing is lost, duplicated or reordered."""
        return not (self.lost or self.duplicated or self.reordered or self.unread)

    def __str__(self) -> str:
        if self.is_clean:
            return f"all {self.acknowledged:,} acknowledged records are there, each once and in order"
        wrong = {"lost": self.lost, "duplicated": self.duplicated, "reordered": self.reordered}
        told = [f"{count:,} {what}" for what, count in wrong.items() if count]
        if self.unread:
            told.append(f"{len(self.unread)} partitions could not be read ({self.unread[0]})")
        return f"of {self.acknowledged:,} acknowledged records: {', '.join(told)}"


class LoadSetup(msgspec.Struct, frozen=True, kw_only=True):
    """The first message."""

    bootstrap: tuple[str, ...]
    partitions: tuple[tuple[str, int], ...]
    """What is produced to."""
    rate: float
    is_idempotent: bool = True
    """Formats of records before 0.11 have no numbers of producers; a retry may write a record twice then."""
    consumers: tuple[tuple[str, str], ...]
    """Group and member of each consumer of a coordinator group."""


class LoadOrder(msgspec.Struct, frozen=True, omit_defaults=True):
    """What to do; answered by a sentence that says what was done, or by the report of an audit."""

    rate: float | None = None
    stop: tuple[str, str] | None = None
    start: tuple[str, str] | None = None
    audit: bool = False


class ConsumerFacts(msgspec.Struct, frozen=True):
    """One consumer."""

    group: str
    member: str
    status: ConsumerStatus
    partitions: tuple[str, ...]
    consumed: int


class LoadFacts(msgspec.Struct, frozen=True, kw_only=True):
    """How everything stands, every half second."""

    rate: float
    acknowledged: int
    overwritten: int
    waiting: int
    error: str
    consumers: tuple[ConsumerFacts, ...]


ProcessKind = Literal["broker", "zookeeper", "controller", "producer", "consumer"]
ProcessStatus = Literal["starting", "running", "paused", "stopped", "killed", "crashed"]
"""stopped: in order. killed: by a fault. crashed: it ended and nobody had asked for it."""
EventKind = Literal["fault", "repair", "process", "failure", "load", "group", "isr", "audit", "step", "expectation"]
"""failure: a broker failed at a request. group: what members of a ZooKeeper group say of themselves. isr: why a leader
let a follower leave."""


class SandboxReady(msgspec.Struct, frozen=True, kw_only=True):
    """The one line of `kdrill sandbox --headless`."""

    format: str = "kdrill.sandbox/1"
    zookeeper: str = ""
    """`127.0.0.1:40001/kafka`; servers are separated by commas. Empty in KRaft mode."""
    controllers: str = ""
    """`127.0.0.1:40001,…`, in KRaft mode."""
    bootstrap: str
    """The brokers' addresses for clients, separated by commas."""
    pids: Mapping[str, int]
    """`zookeeper-1` or `controller-101`, `broker-1`, and `load`."""
    dir: str

    @property
    def source(self) -> str:
        """How the cluster is followed: `zk://…`, or `controllers://…`."""
        return f"zk://{self.zookeeper}" if self.zookeeper else f"controllers://{self.controllers}"


def uses(bootstrap: str, topic: str) -> Mapping[str, str]:
    """How a sandbox is used at once: kind of client → a line to paste, which writes or reads this topic."""
    python = (
        f"""p = Producer({{"bootstrap.servers": "{bootstrap}"}}); p.produce("{topic}", b"hello"); print(p.flush(9))"""
    )
    return {
        "python": f"python3 -c 'from confluent_kafka import Producer; {python}'",
        "java": f'new KafkaProducer<>(Map.of("bootstrap.servers", "{bootstrap}"), new StringSerializer(), '
        "new StringSerializer())",
        "kcat": f"kcat -b {bootstrap} -C -t {topic} -o beginning -e",
        "console": f"kafka-console-consumer.sh --bootstrap-server {bootstrap} --topic {topic} --from-beginning",
    }


class SandboxEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something that the sandbox did or noticed. What the cluster makes of it, ZooKeeper shows."""

    number: int
    at_ms: int
    kind: EventKind
    text: str
    """One line."""
    subject: str = ""
    """A process's name, or `link 1-zookeeper`."""
    fault: int | None = None
    """The number of the fault that this is, that it repairs, or that is known to have caused it."""
    details: tuple[str, ...] = ()
    """The last lines of a log, where a process ended unasked."""


class ProcessView(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that runs and can stop: of the load, the producer and each consumer, though they share a process."""

    name: str
    """`broker 1`, `zookeeper 1`, `controller 101`, `producer`, `consumer GROUP/MEMBER`."""
    kind: ProcessKind
    status: ProcessStatus
    pid: int | None = None
    address: str = ""
    """Where clients reach it."""
    since_ms: int = 0
    """When it came to this status."""
    detail: str = ""
    """A rack; what a consumer owns; the last error."""
    log: str = ""
    """The file that has what it said."""


class LinkView(msgspec.Struct, frozen=True, kw_only=True):
    """What two places can say to each other, both ways: as in `cut`, `slow` and `heal`.

    A place is a broker's or controller's id, `zookeeper`, `controllers`, `clients`, or a member of a ZooKeeper group:
    `reports/z1`.
    """

    between: tuple[Place, Place]
    status: Literal["open", "cut", "slow"] = "open"
    delay_ms: float = 0.0


class OpenFault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault that was done and not yet repaired."""

    number: int
    at_ms: int
    fault: Fault
    text: str
    repair: Repair | None
    """None where it can't be undone."""


class GroupView(msgspec.Struct, frozen=True, kw_only=True):
    """A ZooKeeper group by what its members say of themselves."""

    name: str
    joining: tuple[str, ...] = ()
    """Who does not read yet, or not now."""
    rebalanced: tuple[str, ...] = ()
    """Who has stopped and claimed anew since the last change."""
    all_rebalanced: bool = False
    """Whether these are all that hear of changes."""
    owned_twice: tuple[str, ...] = ()
    """Partitions that two members read."""
    read_on: Mapping[str, str] = {}
    """Partition → who reads it on, though it is another's in ZooKeeper."""
    given_up: tuple[str, ...] = ()
    """Who has used up the tries of its rebalance."""


class LoadView(msgspec.Struct, frozen=True, kw_only=True):
    """The traffic, as of a second ago at most."""

    rate: float
    """Records a second, asked for."""
    acknowledged_per_s: float = 0.0
    acknowledged: int = 0
    waiting: int = 0
    """Records sent and not acknowledged yet."""
    consumed_per_s: float = 0.0
    consumed: int = 0
    lost: int = 0
    """Acknowledged records known to be lost so far: partitions were cut back behind them. The audit proves it."""
    error: str = ""
    """What the producer was told last, while it has to repeat."""
    groups: tuple[GroupView, ...] = ()


class SandboxState(msgspec.Struct, frozen=True, kw_only=True):
    """How everything stands."""

    processes: tuple[ProcessView, ...] = ()
    links: tuple[LinkView, ...] = ()
    """Each broker's with `zookeeper` or `controllers`, with `clients`, and of each two brokers or controllers."""
    faults: tuple[OpenFault, ...] = ()
    """The newest last."""
    laggards: int = 0
    """How often a leader let a follower that was behind leave its ISR, ever."""
    load: LoadView | None = None


OnEvent = Callable[[SandboxEvent], None]


def now_ms() -> int:
    """Wall-clock time, ms since the epoch."""
    return time.time_ns() // 1_000_000


class EventFeed:
    """For one event loop."""

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event
        self.told = 0
        """How many events there were."""

    def tell(
        self,
        kind: EventKind,
        text: str,
        *,
        subject: str = "",
        fault: int | None = None,
        details: tuple[str, ...] = (),
    ) -> None:
        """It happened now."""
        self.told += 1
        self._on_event(
            SandboxEvent(
                number=self.told,
                at_ms=now_ms(),
                kind=kind,
                text=text,
                subject=subject,
                fault=fault,
                details=details,
            )
        )


class Audit(msgspec.Struct, frozen=True, tag_field="ask", tag="audit"):
    """Stop producing, read every partition, and prove what became of the acknowledged records."""


class SessionScenario(msgspec.Struct, frozen=True, tag_field="ask", tag="scenario"):
    """All that was ordered so far, as the text of a scenario file."""


class Order(msgspec.Struct, frozen=True, omit_defaults=True):
    """Either a deed, answered by what was Done, or a question, by an AuditReport or a text."""

    do: Deed | None = None
    ask: Audit | SessionScenario | None = None


class Done(msgspec.Struct, frozen=True):
    """What a deed did, as a sentence; `fault` is the number under which it can be undone, 0 if it can't."""

    text: str
    fault: int = 0


class ControlNews(msgspec.Struct, frozen=True, omit_defaults=True):
    """News of the control process: one of the fields is set."""

    ready: SandboxReady | None = None
    failed: str | None = None
    event: SandboxEvent | None = None
    state: SandboxState | None = None
