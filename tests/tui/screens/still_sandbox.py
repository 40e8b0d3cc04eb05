"""A sandbox that stands still: how it stands is written here; what is said of it, the program says."""

from collections.abc import Mapping

import msgspec

from model.sandbox.faults import CutLink, ExpireSession, HealLink
from model.sandbox.messages import (
    LinkView,
    LoadView,
    OpenFault,
    ProcessKind,
    ProcessStatus,
    ProcessView,
    SandboxState,
)
from tests.tui.dashboard import NOW_MS
from tests.tui.data.asked import MOMENT, rows_shown, text_shown
from tui.engine.link import DataLink, OnPulse
from tui.engine.listing import AnswerMemo
from tui.engine.messages import SANDBOX, ActionRequest, ListQuery, Pulse, TextAnswer, TextQuery, TimeAnswer, TimeQuery
from tui.engine.queries import ClusterPicture, LinkList, ProcessList, ProcessText, SandboxRequest, SandboxText
from tui.engine.rows import Window
from tui.engine.sandbox.facts import Drawn
from tui.engine.sandbox.service import WISHES, Impossible, deed_of

CUT = CutLink(("2", "zookeeper"))
MEMBERS = ("1", "2", "3")


def process(name: str, kind: ProcessKind, status: ProcessStatus = "running", **more: str) -> ProcessView:
    """It has been like this for an hour."""
    pid = None if status == "killed" else 4_000 + len(name)
    return ProcessView(name=name, kind=kind, status=status, pid=pid, since_ms=NOW_MS - 3_600_000, **more)


STATE = SandboxState(
    processes=(
        process("zookeeper 1", "zookeeper", address="127.0.0.1:40001"),
        process("broker 1", "broker", "killed", detail="rack r1"),
        process("broker 2", "broker", "paused", address="127.0.0.1:40012", detail="rack r2"),
        process("broker 3", "broker", address="127.0.0.1:40013", detail="rack r3"),
        process("producer", "producer"),
        process("consumer auditors/member-1", "consumer"),
    ),
    links=(
        LinkView(between=("2", "zookeeper"), status="cut"),
        LinkView(between=("1", "zookeeper")),
        LinkView(between=("1", "2"), status="slow", delay_ms=200.0),
        *(LinkView(between=(member, "clients")) for member in MEMBERS),
    ),
    faults=(
        OpenFault(number=1, at_ms=NOW_MS - 9_000, fault=ExpireSession(1), text="session 1 ended", repair=None),
        OpenFault(number=2, at_ms=NOW_MS - 3_000, fault=CUT, text="broker 2 was cut off", repair=HealLink(CUT.between)),
    ),
    load=LoadView(rate=20.0, acknowledged=1_234, acknowledged_per_s=19.6, lost=3, error="NOT_ENOUGH_REPLICAS"),
)


KRAFT = SandboxState(
    processes=(
        process("controller 101", "controller", "killed"),
        process("controller 102", "controller", address="127.0.0.1:40102"),
        process("controller 103", "controller", "paused"),
        *(process(f"broker {member}", "broker", address=f"127.0.0.1:4001{member}") for member in MEMBERS),
        process("producer", "producer"),
    ),
    links=(
        LinkView(between=("2", "controllers"), status="cut"),
        LinkView(between=("102", "controllers")),
        LinkView(between=("101", "102"), status="slow", delay_ms=200.0),
    ),
)
"""As `STATE`, without a ZooKeeper."""


class WithStillSandbox:
    """A DataLink in front of another: what it says of a sandbox is of `state`."""

    def __init__(self, link: DataLink, state: SandboxState = STATE) -> None:
        self._link = link
        self._state = state
        self._memory = AnswerMemo()

    async def open(self, on_pulse: OnPulse) -> None:
        await self._link.open(on_pulse)

    async def rows(self, query: ListQuery) -> Window:
        if isinstance(query, ProcessList | LinkList):
            return rows_shown(self._state, query, NOW_MS, self._memory)
        return await self._link.rows(query)

    async def text(self, query: TextQuery) -> TextAnswer:
        if isinstance(query, ClusterPicture):
            return msgspec.structs.replace(text_shown(Drawn(MOMENT, self._state, 6_000), query, NOW_MS), again_ms=0)
        if isinstance(query, SandboxText | ProcessText):
            return text_shown(self._state, query, NOW_MS)
        return await self._link.text(query)

    async def wish(self, wish: ActionRequest) -> str:
        """What it would do; it does nothing."""
        if not isinstance(wish, SandboxRequest) or wish.verb not in WISHES:
            return await self._link.wish(wish)
        try:
            return repr(deed_of(self._state, wish.verb, wish.about))
        except Impossible as why:
            return str(why)

    async def moment(self, query: TimeQuery) -> TimeAnswer:
        return await self._link.moment(query)

    async def close(self) -> None:
        await self._link.close()


class WithSandbox(WithStillSandbox):
    """A sandbox by its header, too."""

    more: Mapping[str, str] = {}
    """What else its header says."""

    async def open(self, on_pulse: OnPulse) -> None:
        def told(pulse: Pulse) -> None:
            header = msgspec.structs.replace(pulse.header, kind=SANDBOX, **self.more)
            on_pulse(msgspec.structs.replace(pulse, header=header))

        await super().open(told)


class WithKraftSandbox(WithSandbox):
    """One in KRaft mode."""

    more: Mapping[str, str] = {"generation": "kraft"}

    def __init__(self, link: DataLink) -> None:
        super().__init__(link, KRAFT)
