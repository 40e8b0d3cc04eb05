"""One sandbox, for as long as the dashboard is open on it: how it stands, what happened, and what it is told to do.

A wish of the operator, a verb and what the cursor is on, becomes the sandbox's deed. A row's key says what is broken:
`broker 2`, `zookeeper 1`, `controller 101`, `consumer GROUP/MEMBER`, or `2|zookeeper` for a link.
"""

from collections.abc import Callable, Mapping

from model.cluster.change import SEVERITY, Change
from model.cluster.whole_file import typed_path, write_whole
from model.sandbox.control.client import SandboxClient
from model.sandbox.faults import (
    CONTROLLERS,
    ZOOKEEPER,
    CorruptSegment,
    CutLink,
    Deed,
    ExpireSession,
    FillLogDir,
    HealLink,
    Kill,
    KillController,
    KillZooKeeper,
    Pause,
    Resume,
    SetRate,
    SlowLink,
    Start,
    StartConsumer,
    StartZooKeeper,
    StopConsumer,
    Terminate,
    Undo,
    UndoAll,
)
from model.sandbox.messages import AuditReport, LinkView, ProcessView, SandboxEvent, SandboxState
from model.sandbox.options import SandboxOptions
from model.sandbox.processes import SandboxError
from tui.engine.queries import SandboxRequest

BRAKE_MS = 200.0
"""By how much a slow link is slower, each way."""


NO_SESSIONS = "KRaft has no ZooKeeper sessions: a broker that is cut off from the controllers is fenced"


class Impossible(ValueError):  # noqa: N818 - reads as a fact
    """This cannot be wished of this; the message is one line."""


def link_key(link: LinkView) -> str:
    """The key of a link's row."""
    return "|".join(link.between)


def deed_of(state: SandboxState, verb: str, about: str) -> Deed:
    """What to order. Raises Impossible."""
    wish = WISHES.get(verb)
    if wish is None:
        raise Impossible(f"the sandbox knows no {verb!r}")
    return wish(state, about.strip())


def _process(state: SandboxState, about: str) -> ProcessView:
    found = next((process for process in state.processes if process.name == about), None)
    if found is None:
        raise Impossible(f"there is no {about} here" if about else "choose a process first")
    return found


def _broker(state: SandboxState, about: str) -> int:
    process = _process(state, about if " " in about else f"broker {about}")
    if process.kind != "broker":
        raise Impossible(f"this is for brokers, not for {process.name}")
    return _number(process)


def _node(state: SandboxState, about: str) -> int:
    """The id of a broker, or of a controller of KRaft, by its name."""
    process = _process(state, about)
    if process.kind not in ("broker", "controller"):
        raise Impossible(f"this is for brokers{' and controllers' * _is_kraft(state)}, not for {process.name}")
    return _number(process)


def _is_kraft(state: SandboxState) -> bool:
    return any(process.kind == "controller" for process in state.processes)


def _number(process: ProcessView) -> int:
    return int(process.name.rpartition(" ")[2])


def _consumer(process: ProcessView) -> tuple[str, str]:
    group, _, member = process.name.partition(" ")[2].rpartition("/")
    return group, member


def _kill(state: SandboxState, about: str) -> Deed:
    process = _process(state, about)
    if process.kind in ("broker", "controller"):
        return Kill(_number(process))
    if process.kind == "zookeeper":
        return KillZooKeeper(_number(process))
    if process.kind == "consumer":
        return StopConsumer(*_consumer(process))
    return SetRate(0.0)


def _revive(state: SandboxState, about: str) -> Deed:
    if "|" in about:
        return HealLink(_link(state, about).between)
    process = _process(state, about)
    if process.kind == "zookeeper":
        return StartZooKeeper(_number(process))
    if process.kind == "consumer":
        return StartConsumer(*_consumer(process))
    if process.kind in ("broker", "controller"):
        return Resume(_number(process)) if process.status == "paused" else Start(_number(process))
    raise Impossible("the producer goes on with :rate 200")


def _pause(state: SandboxState, about: str) -> Deed:
    node = _node(state, about)
    return Resume(node) if _process(state, about).status == "paused" else Pause(node)


def _expire(state: SandboxState, about: str) -> Deed:
    if _is_kraft(state):
        raise Impossible(NO_SESSIONS)
    return ExpireSession(_broker(state, about))


def _link(state: SandboxState, about: str) -> LinkView:
    """The link itself, or a broker's to ZooKeeper; in KRaft mode a broker's or controller's to controllers."""
    above = CONTROLLERS if _is_kraft(state) else ZOOKEEPER
    key = about if "|" in about else f"{_node(state, about)}|{above}"
    found = next((link for link in state.links if set(link.between) == set(key.split("|"))), None)
    if found is None:
        raise Impossible(f"there is no link {key.replace('|', ' - ')}")
    return found


def _cut(state: SandboxState, about: str) -> Deed:
    link = _link(state, about)
    return HealLink(link.between) if link.status == "cut" else CutLink(link.between)


def _brake(state: SandboxState, about: str) -> Deed:
    link = _link(state, about)
    return HealLink(link.between) if link.status == "slow" else SlowLink(link.between, BRAKE_MS)


def _corrupt(state: SandboxState, about: str) -> Deed:
    broker, _, partition = about.partition(" ")
    if not partition:
        raise Impossible("say whose copy of what: corrupt 2 orders-0")
    return CorruptSegment(_broker(state, broker), partition)


def _rate(_: SandboxState, about: str) -> Deed:
    try:
        rate = float(about)
    except ValueError:
        raise Impossible(f"{about!r} is no number of records a second") from None
    if not 0 <= rate <= 1e6:
        raise Impossible(f"{about} records a second cannot be had")
    return SetRate(rate)


WISHES: Mapping[str, Callable[[SandboxState, str], Deed]] = {
    "kill": _kill,
    "terminate": lambda state, about: Terminate(_node(state, about)),
    "pause": _pause,
    "revive": _revive,
    "expire": _expire,
    "failover": lambda _, about: KillController(about),
    "cut": _cut,
    "brake": _brake,
    "fill": lambda state, about: FillLogDir(_broker(state, about)),
    "corrupt": _corrupt,
    "rate": _rate,
    "undo": lambda *_: Undo(),
    "repair": lambda *_: UndoAll(),
}
"""Verb → what it is a wish for."""


class SandboxService:
    """Used on one event loop. The sandbox ends with `close`, or with this process."""

    def __init__(self, options: SandboxOptions) -> None:
        """Begins to start it; `open` waits for it."""
        self._client = SandboxClient(options)
        self.session_ms = options.session_ms
        """How long a broker may send no heartbeat till ZooKeeper ends its session, or a controller fences it."""
        self._news: Callable[[], object] = _ignore
        self._note: Callable[[Change], object] = _ignore
        self._early: list[Change] = []
        self.bootstrap = ""
        """The brokers' addresses, once it is open."""
        self.folder = ""
        """Where its processes have their files, once it is open."""

    @property
    def state(self) -> SandboxState:
        """How it stands."""
        return self._client.state

    async def open(self, progress: Callable[[str], object]) -> str:
        """Waits until every broker serves; returns the source to watch it by. Raises SandboxError.

        `progress` is told in a line what is waited for.
        """
        self._news = lambda: progress(_starting(self.state))
        self._note = self._early.append
        ready = await self._client.open(self._happened, self._stands)
        self.bootstrap, self.folder = ready.bootstrap, ready.dir
        return ready.source

    def tell(self, note: Callable[[Change], object], news: Callable[[], object]) -> None:
        """Whom to tell what happens from now on, and what has happened: `note` events, `news` that it stands anew."""
        for change in self._early:
            note(change)
        self._early.clear()
        self._note, self._news = note, news

    async def do(self, wish: SandboxRequest) -> str:
        """Does it; the sentence that says what was done, or why nothing was."""
        try:
            if wish.verb == "audit":
                return _proved(await self._client.audit())
            if wish.verb == "save":
                return await self._save(wish.about)
            return (await self._client.do(deed_of(self.state, wish.verb, wish.about))).text
        except (Impossible, SandboxError) as error:
            return str(error)

    async def close(self) -> None:
        """Ends the sandbox and all in it."""
        self._note = self._news = _ignore
        await self._client.close()

    async def _save(self, path: str) -> str:
        try:
            write_whole(typed_path(path), (await self._client.scenario()).encode())
        except OSError as error:
            return f"cannot write {path}: {error.strerror}"
        return f"{path} has all that was done: kdrill sandbox --scenario {path}"

    def _stands(self, _: SandboxState) -> None:
        self._news()

    def _happened(self, event: SandboxEvent) -> None:
        kind, crashed = f"sandbox-{event.kind}", bool(event.details)
        text = f"{event.text}: {event.details[-1]}" if crashed else event.text
        self._note(Change(kind, event.subject, text, "error" if crashed else SEVERITY[kind], event.at_ms))
        self._news()


def _ignore(*_: object) -> None:
    """Nobody is told."""


def _proved(report: AuditReport) -> str:
    if report.unread:
        return f"{len(report.unread)} partitions could not be read: {report.unread[0]}"
    if report.is_clean:
        return f"all {report.acknowledged:,} acknowledged records are there, once and in order"
    return (
        f"of {report.acknowledged:,} acknowledged records {report.lost:,} are lost, "
        f"{report.duplicated:,} duplicated, {report.reordered:,} out of order"
    )


def _starting(state: SandboxState) -> str:
    waiting = [process.name for process in state.processes if process.status == "starting"]
    return ", ".join(waiting)
