"""From what the operator wishes, a verb and what the cursor is on, to the sandbox's deed. Pure; does nothing itself.

A row's key says what is broken: `broker 2`, `zookeeper 1`, `consumer GROUP/MEMBER`, or `2|zookeeper` for a link.
"""

from collections.abc import Callable, Mapping

from model.sandbox.control.state import LinkView, ProcessView, SandboxState
from model.sandbox.faults.faults import (
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

BRAKE_MS = 200.0
"""By how much a slow link is slower, each way."""


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


def _number(process: ProcessView) -> int:
    return int(process.name.rpartition(" ")[2])


def _consumer(process: ProcessView) -> tuple[str, str]:
    group, _, member = process.name.partition(" ")[2].rpartition("/")
    return group, member


def _kill(state: SandboxState, about: str) -> Deed:
    process = _process(state, about)
    if process.kind == "broker":
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
    if process.kind == "broker":
        return Resume(_number(process)) if process.status == "paused" else Start(_number(process))
    raise Impossible("the producer goes on with :rate 200")


def _pause(state: SandboxState, about: str) -> Deed:
    broker = _broker(state, about)
    return Resume(broker) if _process(state, about).status == "paused" else Pause(broker)


def _link(state: SandboxState, about: str) -> LinkView:
    """The link itself, or a broker's to ZooKeeper."""
    key = about if "|" in about else f"{_broker(state, about)}|zookeeper"
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
    "terminate": lambda state, about: Terminate(_broker(state, about)),
    "pause": _pause,
    "revive": _revive,
    "expire": lambda state, about: ExpireSession(_broker(state, about)),
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
