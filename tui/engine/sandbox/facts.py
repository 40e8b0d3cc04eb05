"""What the picture of a cluster shows, as values: who runs, who leads what, who still has a session, who reaches whom.

Of a sandbox, its processes and links say it; of any other cluster, the image alone. The last part puts them into words.
Places nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from model.cluster.cluster_image import ClusterImage
from model.cluster.texts import counted as number_of
from model.consumers.ownership import GroupCounts
from model.sandbox.faults import CONTROLLERS, ZOOKEEPER, CutLink, HealLink
from model.sandbox.messages import LinkView, LoadView, ProcessStatus, ProcessView, SandboxState
from model.sandbox.options import short_place
from model.sources.feed import Moment
from tui.engine.cluster.brokers import FENCED, UNCONFIRMED, BrokerTable, brokers_of, host_of
from tui.engine.consumers.groups import counts_of
from tui.engine.glyphs import bar
from tui.engine.listing import AnswerMemo
from tui.engine.rows import Span, span
from tui.engine.sheets import age_text

STATES: Mapping[ProcessStatus, str] = {
    "running": "UP",
    "starting": "STARTING",
    "paused": "PAUSED",
    "stopped": "STOPPED",
    "killed": "DEAD",
    "crashed": "CRASHED",
}
"""What a picture calls how a process fares. A broker that runs and does not reach who is above it is CUT OFF."""
CUT_OFF = "CUT OFF"
SILENT: frozenset[ProcessStatus] = frozenset({"killed", "crashed", "paused"})
"""Those who send no heartbeat, and whose session was not closed in order."""
LinkStatus = Literal["open", "cut", "slow"]
MINUTE_MS = 60_000
SECOND_MS, COUNTDOWN_MS = 1_000, 200
"""How often a picture is drawn anew: while it counts seconds since a fault, and while a session is about to end."""


@dataclass(frozen=True)
class Drawn:
    """`state`: None of a cluster that is no sandbox; `session_ms`: the timeout of its brokers' sessions."""

    moment: Moment
    state: SandboxState | None = None
    session_ms: int = 0


@dataclass(frozen=True)
class SessionCountdown:
    """A broker's session without heartbeats: what is left of its time, in ms; `is_over`: it is expired.

    It is counted from the fault on. The last heartbeat came up to a third of the timeout before, and ZooKeeper looks
    once in a tick: at 0 the session may still be there for a moment. In KRaft the active controller fences the broker.
    """

    left_ms: int
    of_ms: int
    is_over: bool = False
    is_held: bool = False
    """No ZooKeeper or no majority of the controllers serves: nobody ends it."""
    ends_in_fence: bool = False
    """In KRaft mode."""


@dataclass(frozen=True, kw_only=True)
class SandboxNode:
    """A process, or a broker of a cluster that is no sandbox. `age`: since when it is as bad as it is, else empty."""

    key: str
    name: str
    state: str
    age: str = ""
    where: str = ""
    rack: str = ""
    is_controller: bool = False
    leads: int = 0
    replicas: int = 0
    in_sync: int = 0
    has_session: bool = True
    """Whether it is registered."""
    session: SessionCountdown | None = None
    """While no heartbeats come."""
    link: LinkStatus | None = None
    """The one with ZooKeeper or controllers; None where none is known."""
    to_clients: LinkStatus | None = None
    role: str = ""
    """Of a controller that does not vote."""
    links: str = ""
    """Its other links that are cut or slow, in words."""

    @property
    def is_well(self) -> bool:
        return self.state == "UP"


@dataclass(frozen=True)
class SandboxGroup:
    """`counts`: None where the cluster does not know the group yet."""

    name: str
    members: tuple[SandboxNode, ...]
    counts: GroupCounts | None


@dataclass(frozen=True, kw_only=True)
class SandboxFacts:
    """All of the picture. `missing`: for want of what nothing is written; empty where there is all it takes."""

    top: tuple[SandboxNode, ...]
    brokers: tuple[SandboxNode, ...]
    producer: SandboxNode | None = None
    load: LoadView | None = None
    groups: tuple[SandboxGroup, ...] = ()
    missing: str = ""
    is_sandbox: bool = True
    readers: str = ""
    """Where the processes of groups are not known, how many groups there are, in words."""
    again_ms: int = 0
    """As in TextAnswer."""

    @property
    def nodes(self) -> tuple[SandboxNode, ...]:
        """Everything that the cursor can be on."""
        clients = (self.producer,) if self.producer else ()
        return (*self.top, *self.brokers, *clients, *(one for group in self.groups for one in group.members))

    @property
    def most_leaders(self) -> int:
        return max((broker.leads for broker in self.brokers), default=0)


def facts_of(drawn: Drawn, now_ms: int, memory: AnswerMemo) -> SandboxFacts:
    """What is to be drawn."""
    counted = brokers_of(drawn.moment, memory)
    if drawn.state is None:
        image = drawn.moment.image
        made_from = (counted, image.controller, image.quorum, image.groups, image.classic_groups)
        return memory.recall("cluster facts", made_from, lambda: _of_image(image, counted))
    return _of_sandbox(drawn, drawn.state, counted, now_ms, memory)


def _of_sandbox(
    drawn: Drawn, state: SandboxState, counted: BrokerTable, now_ms: int, memory: AnswerMemo
) -> SandboxFacts:
    is_kraft = any(one.kind == "controller" for one in state.processes)
    servers = [one for one in state.processes if one.kind in ("zookeeper", "controller")]
    away = {link.between[0] for link in state.links if link.between[1] == CONTROLLERS and link.status == "cut"}
    voting = _voting(drawn.moment.image, servers)
    serving = sum(one.status == "running" and number_in(one.name) not in away for one in voting)
    has_quorum = serving > len(voting) // 2
    alone = "CONTROLLER" if is_kraft else "ZOOKEEPER"
    sandbox = _Sandbox(drawn, state, has_quorum, now_ms, CONTROLLERS if is_kraft else ZOOKEEPER)
    brokers = tuple(sandbox.broker(one, counted) for one in state.processes if one.kind == "broker")
    return SandboxFacts(
        top=tuple(
            sandbox.controller(one, votes=one in voting) if is_kraft else sandbox.node(one, one.name) for one in servers
        ),
        brokers=brokers,
        producer=next((sandbox.node(one, one.name) for one in state.processes if one.kind == "producer"), None),
        load=state.load,
        groups=tuple(_groups(sandbox, drawn.moment, memory)),
        missing="" if has_quorum else f"NO {'QUORUM' if len(servers) > 1 else alone}",
        again_ms=_again_ms(state, brokers, now_ms),
    )


def _voting(image: ClusterImage, servers: Sequence[ProcessView]) -> Sequence[ProcessView]:
    """Those that decide; all of them where nobody says who votes."""
    names = {f"controller {each.id}" for each in image.quorum.voters} if image.quorum else set()
    return [one for one in servers if one.name in names] or servers


def _again_ms(state: SandboxState, brokers: Iterable[SandboxNode], now_ms: int) -> int:
    sessions = [one.session for one in brokers if one.session]
    if any(session.left_ms for session in sessions if not session.is_held):
        return COUNTDOWN_MS
    young = [one for one in state.processes if one.status != "running" and now_ms - one.since_ms < MINUTE_MS]
    cuts = [one for one in state.faults if isinstance(one.fault, CutLink) and now_ms - one.at_ms < MINUTE_MS]
    return SECOND_MS if young or cuts else 0


@dataclass(frozen=True)
class _Sandbox:
    drawn: Drawn
    state: SandboxState
    has_quorum: bool
    now_ms: int
    above: str
    """The place that brokers depend on."""

    def node(self, process: ProcessView, name: str) -> SandboxNode:
        age = "" if process.status == "running" else age_text(process.since_ms, self.now_ms)
        return SandboxNode(key=process.name, name=name, state=STATES[process.status], age=age, where=process.address)

    def broker(self, process: ProcessView, counted: BrokerTable) -> SandboxNode:
        number = number_in(process.name)
        node = replace(
            self._linked(process),
            rack=process.detail.removeprefix("rack "),
            has_session=int(number) in self.drawn.moment.image.brokers,
            session=self._session(process, int(number), self._cut_ms(number)),
        )
        return _shared(node, counted, int(number))

    def controller(self, process: ProcessView, *, votes: bool) -> SandboxNode:
        """One of KRaft: it is above, and has links as those below."""
        return replace(self._linked(process), role="" if votes else "observes")

    def _linked(self, process: ProcessView) -> SandboxNode:
        number = number_in(process.name)
        links = {_other(link, number): link for link in self.state.links if number in link.between}
        status: dict[str, LinkStatus] = {place: link.status for place, link in links.items()}
        node = replace(
            self.node(process, process.name),
            is_controller=self.drawn.moment.image.controller.broker == int(number),
            link=status.get(self.above),
            to_clients=status.get("clients"),
            links=_in_words({place: one for place, one in status.items() if place != self.above}),
        )
        if process.status == "running" and node.link == "cut":
            return replace(node, state=CUT_OFF, age=age_text(self._cut_ms(number) or 0, self.now_ms))
        return node

    def _cut_ms(self, node: str) -> int | None:
        """Since when it is cut off from who is above; None where it is not, or that is not known."""
        cuts = ((one.at_ms, one.repair) for one in reversed(self.state.faults) if isinstance(one.fault, CutLink))
        ends = {node, self.above}
        return next((at for at, repair in cuts if isinstance(repair, HealLink) and set(repair.between) == ends), None)

    def _session(self, process: ProcessView, broker: int, cut_ms: int | None) -> SessionCountdown | None:
        since = [ms for ms in (process.since_ms if process.status in SILENT else None, cut_ms) if ms is not None]
        if not since:
            return None
        of_ms = self.drawn.session_ms
        if broker not in self.drawn.moment.image.brokers:
            return SessionCountdown(0, of_ms, is_over=True, ends_in_fence=self.above == CONTROLLERS)
        left_ms = min(max(min(since) + of_ms - self.now_ms, 0), of_ms)
        is_kraft = self.above == CONTROLLERS
        return SessionCountdown(left_ms, of_ms, is_held=not self.has_quorum, ends_in_fence=is_kraft)


def number_in(name: str) -> str:
    """The id at the end of a broker's or server's name."""
    return name.rpartition(" ")[2]


def _other(link: LinkView, place: str) -> str:
    return next((end for end in link.between if end != place), place)


def _in_words(ends: Mapping[str, LinkStatus]) -> str:
    """`cut: b2 clients  slow: b3`: the other ends of a node's links that are not as they should be."""
    named = {short_place(end): status for end, status in ends.items()}
    found = {wanted: [end for end, status in named.items() if status == wanted] for wanted in ("cut", "slow")}
    return "  ".join(f"{status}: {' '.join(some)}" for status, some in found.items() if some)


def _shared(node: SandboxNode, counted: BrokerTable, broker: int) -> SandboxNode:
    """With what the broker leads and holds."""
    replicas = counted.counts.replicas[broker]
    in_sync = replicas - counted.counts.missing[broker]
    return replace(node, leads=counted.counts.leaders[broker], replicas=replicas, in_sync=in_sync)


def _groups(sandbox: _Sandbox, moment: Moment, memory: AnswerMemo) -> Iterable[SandboxGroup]:
    members: dict[str, list[SandboxNode]] = {}
    for process in sandbox.state.processes:
        if process.kind == "consumer":
            group, _, member = process.name.partition(" ")[2].rpartition("/")
            members.setdefault(group, []).append(sandbox.node(process, member))
    for name, nodes in members.items():
        known = moment.image.group(name)
        yield SandboxGroup(name, tuple(nodes), counts_of(moment, name, known, memory) if known else None)


def _of_image(image: ClusterImage, counted: BrokerTable) -> SandboxFacts:
    """Of a live cluster, or of one that was written down."""
    brokers = tuple(_registered(image, counted, broker) for broker in counted.ids)
    count = sum(1 for _ in image.every_group())
    readers = number_of(count, "consumer group") if count else ""
    return SandboxFacts(top=tuple(_voters(image)), brokers=brokers, is_sandbox=False, readers=readers)


def _registered(image: ClusterImage, counted: BrokerTable, broker: int) -> SandboxNode:
    registered, state = counted.registration(broker), counted.state(broker)
    is_up = state not in ("DOWN", FENCED, UNCONFIRMED)
    node = SandboxNode(
        key=f"broker {broker}",
        name=f"broker {broker}",
        state="UP" if is_up else state.upper(),
        rack=registered.rack or "",
        where=host_of(registered) if registered.endpoints else "",
        is_controller=image.controller.broker == broker,
        has_session=is_up,
    )
    return _shared(node, counted, broker)


def _voters(image: ClusterImage) -> Iterable[SandboxNode]:
    quorum = image.quorum
    if quorum is None:
        name = "controller quorum" if image.generation == "kraft" else "ZooKeeper"
        return (SandboxNode(key="", name=name, state=""),)
    return tuple(
        SandboxNode(
            key="",
            name=f"controller {voter.id}",
            state="SILENT" if voter.id in quorum.silent else "UP",
            is_controller=voter.id == quorum.leader,
        )
        for voter in quorum.voters
    )


STYLES = {"UP": "ok", "STARTING": "waiting", "PAUSED": "warn", "STOPPED": "dim", CUT_OFF: "warn", "UNCONFIRMED": "warn"}
"""State → how it is written; what is not here is dead."""


def style_of(node: SandboxNode) -> str:
    """In which style its state is written."""
    return STYLES.get(node.state, "" if not node.state else "error")


def share_bar(part: int, of: int, width: int) -> str:
    """A part of something, which may be nothing."""
    return bar(part / of if of else 0, max(width, 0))


def state_words(node: SandboxNode) -> list[str]:
    """`DEAD`, `8s`."""
    return [node.state, node.age] if node.age else [node.state]


def state_line(node: SandboxNode, more: str = "") -> list[Span]:
    """The same in its style, with more behind it."""
    words = " ".join(filter(None, state_words(node)))
    return [span(words, style_of(node)), *([span(f"  {more}", "dim")] if more else [])]


SESSION_WORDS = ("session ends in", "session ends", "session")


def session_lines(session: SessionCountdown | None, width: int) -> list[list[Span]]:
    """The countdown: in words, and as a bar that gets shorter."""
    if session is None:
        return []
    if session.is_over:
        return [[span("fenced" if session.ends_in_fence else "session expired", "error")]]
    if session.is_held:
        return [[span("nobody fences it" if session.ends_in_fence else "session held", "warn")]]
    words = ("fenced in", "fence") if session.ends_in_fence else SESSION_WORDS
    said = next((f"{word} {session.left_ms / 1000:.1f} s" for word in words if len(word) + 6 <= width), "")
    return [[span(said, "warn")], [span(share_bar(session.left_ms, session.of_ms, width), "warn")]]


def produced(load: LoadView | None, producer: SandboxNode | None = None) -> list[list[Span]]:
    """The rate, what was acknowledged, what waits and what is lost, a line each."""
    if load is None:
        return [[span("no load", "dim")]]
    state = [] if producer is None or producer.is_well else [*state_line(producer), span("  ")]
    waiting = f"{load.waiting:,} waiting"
    return [
        [*state, span(f"{load.acknowledged_per_s:,.0f} of {load.rate:,.0f}/s", "number")],
        [span(f"{load.acknowledged:,} acknowledged", "dim")],
        [
            span(waiting, "warn" if load.waiting > load.rate else "dim"),
            span(f"  {load.lost:,} lost", "error" if load.lost else "dim"),
        ],
    ]


def group_words(group: SandboxGroup) -> list[Span]:
    """How far it lags, and what is wrong with it."""
    counts = group.counts
    if counts is None:
        return [span("not seen in the cluster yet", "dim")]
    lag = "-" if counts.lag is None else f"{counts.lag:,}"
    parts = [span(f"lag {lag}", "number" if counts.lag else "dim")]
    if counts.unowned:
        parts.append(span(f"  {counts.unowned:,} unowned", "warn"))
    if counts.idle_threads:
        parts.append(span(f"  {counts.idle_threads:,} idle", "changed"))
    return parts
