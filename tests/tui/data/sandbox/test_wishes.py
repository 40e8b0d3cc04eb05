"""Keys become deeds: what is broken depends on the row under the cursor, and a second press mends it."""

import pytest

from model.sandbox.faults import (
    CorruptSegment,
    CutLink,
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
from model.sandbox.messages import LinkView, ProcessView, SandboxState
from tui.engine.sandbox.service import Impossible, deed_of

STATE = SandboxState(
    processes=(
        ProcessView(name="zookeeper 1", kind="zookeeper", status="running"),
        ProcessView(name="broker 1", kind="broker", status="running"),
        ProcessView(name="broker 2", kind="broker", status="paused"),
        ProcessView(name="broker 3", kind="broker", status="killed"),
        ProcessView(name="producer", kind="producer", status="running"),
        ProcessView(name="consumer audit/eu/m-1", kind="consumer", status="running"),
    ),
    links=(
        LinkView(between=("1", "zookeeper")),
        LinkView(between=("2", "zookeeper"), status="cut"),
        LinkView(between=("1", "2"), status="slow", delay_ms=200.0),
        LinkView(between=("3", "clients")),
    ),
)


@pytest.mark.parametrize(
    ("verb", "about", "deed"),
    [
        ("kill", "broker 1", Kill(1)),
        ("kill", "zookeeper 1", KillZooKeeper(1)),
        ("kill", "consumer audit/eu/m-1", StopConsumer("audit/eu", "m-1")),
        ("kill", "producer", SetRate(0.0)),
        ("terminate", "broker 1", Terminate(1)),
        ("pause", "broker 1", Pause(1)),
        ("pause", "broker 2", Resume(2)),
        ("revive", "broker 3", Start(3)),
        ("revive", "broker 2", Resume(2)),
        ("revive", "zookeeper 1", StartZooKeeper(1)),
        ("revive", "consumer audit/eu/m-1", StartConsumer("audit/eu", "m-1")),
        ("revive", "2|zookeeper", HealLink(("2", "zookeeper"))),
        ("expire", "broker 1", ExpireSession(1)),
        ("failover", "", KillController()),
        ("failover", "loaded", KillController("loaded")),
        ("cut", "broker 1", CutLink(("1", "zookeeper"))),
        ("cut", "broker 2", HealLink(("2", "zookeeper"))),
        ("cut", "3|clients", CutLink(("3", "clients"))),
        ("brake", "1|2", HealLink(("1", "2"))),
        ("brake", "1|zookeeper", SlowLink(("1", "zookeeper"), 200.0)),
        ("fill", "2", FillLogDir(2)),
        ("corrupt", "2 orders-0", CorruptSegment(2, "orders-0")),
        ("rate", "500", SetRate(500.0)),
        ("undo", "", Undo()),
        ("repair", "", UndoAll()),
    ],
)
def test_a_wish_becomes_a_deed(verb: str, about: str, deed: object) -> None:
    assert deed_of(STATE, verb, about) == deed


@pytest.mark.parametrize(
    ("verb", "about", "why"),
    [
        ("kill", "", "choose a process first"),
        ("kill", "broker 9", "there is no broker 9 here"),
        ("pause", "zookeeper 1", "this is for brokers, not for zookeeper 1"),
        ("revive", "producer", "the producer goes on with :rate 200"),
        ("cut", "1|9", "there is no link 1 - 9"),
        ("corrupt", "2", "say whose copy of what: corrupt 2 orders-0"),
        ("fill", "x", "there is no broker x here"),
        ("rate", "fast", "'fast' is no number of records a second"),
        ("rate", "nan", "nan records a second cannot be had"),
        ("explode", "", "the sandbox knows no 'explode'"),
    ],
)
def test_a_wish_that_cannot_be_says_why(verb: str, about: str, why: str) -> None:
    with pytest.raises(Impossible, match="^" + why.replace("|", r"\|") + "$"):
        deed_of(STATE, verb, about)


KRAFT = SandboxState(
    processes=(
        ProcessView(name="controller 101", kind="controller", status="running"),
        ProcessView(name="controller 102", kind="controller", status="paused"),
        ProcessView(name="broker 1", kind="broker", status="running"),
        ProcessView(name="producer", kind="producer", status="running"),
    ),
    links=(
        LinkView(between=("1", "controllers")),
        LinkView(between=("101", "controllers"), status="cut"),
        LinkView(between=("101", "102")),
    ),
)


@pytest.mark.parametrize(
    ("verb", "about", "deed"),
    [
        ("kill", "controller 101", Kill(101)),
        ("kill", "broker 1", Kill(1)),
        ("terminate", "controller 101", Terminate(101)),
        ("pause", "controller 101", Pause(101)),
        ("pause", "controller 102", Resume(102)),
        ("revive", "controller 101", Start(101)),
        ("revive", "controller 102", Resume(102)),
        ("failover", "", KillController()),
        ("cut", "broker 1", CutLink(("1", "controllers"))),
        ("cut", "controller 101", HealLink(("101", "controllers"))),
        ("brake", "101|102", SlowLink(("101", "102"), 200.0)),
        ("brake", "broker 1", SlowLink(("1", "controllers"), 200.0)),
    ],
)
def test_in_kraft_mode_controllers_are_broken_as_brokers_are(verb: str, about: str, deed: object) -> None:
    assert deed_of(KRAFT, verb, about) == deed


@pytest.mark.parametrize(
    ("verb", "about", "why"),
    [
        (
            "expire",
            "broker 1",
            "KRaft has no ZooKeeper sessions: a broker that is cut off from the controllers is fenced",
        ),
        ("pause", "producer", "this is for brokers and controllers, not for producer"),
        ("fill", "controller 101", "this is for brokers, not for controller 101"),
        ("cut", "controller 102", "there is no link 102 - controllers"),
    ],
)
def test_what_cannot_be_in_kraft_mode_says_why(verb: str, about: str, why: str) -> None:
    with pytest.raises(Impossible, match=f"^{why}$"):
        deed_of(KRAFT, verb, about)
