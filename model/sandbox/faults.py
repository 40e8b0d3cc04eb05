"""What can be done to a sandbox: faults, and the repairs that undo them. Values; `faults_carried_out` does them.

In JSON and TOML each is an object whose `do` names it, with the fields below: `{"do": "kill", "broker": 2}`.
"""

from typing import Literal

import msgspec

BrokerChoice = int | str
"""A broker's id, or who has a part at that moment: `controller`, `leader of TOPIC-N`, `follower of TOPIC-N`.

In KRaft mode `controller` is the active one; what is for processes (`kill` to `resume`) takes a controller's id, too.
"""

Place = str
"""One end of a link: a broker's id, `zookeeper`, `clients`, or a member of a ZooKeeper group: `reports/z1`.

In KRaft mode a controller's id, too, and `controllers` instead of `zookeeper`.
"""

ZOOKEEPER, CONTROLLERS, CLIENTS = "zookeeper", "controllers", "clients"


class _Deed(msgspec.Struct, frozen=True, tag_field="do", forbid_unknown_fields=True):
    """Whatever can be ordered; the sandbox answers with a sentence that says what it did."""


class Kill(_Deed, frozen=True, tag="kill"):
    """SIGKILL for a broker: its ZooKeeper session lives on until it times out, or it is fenced as late."""

    broker: BrokerChoice


class Terminate(_Deed, frozen=True, tag="terminate"):
    """SIGTERM for a broker: it hands its partitions over, and leaves."""

    broker: BrokerChoice


class Start(_Deed, frozen=True, tag="start"):
    """Starts a broker that does not run. Repairs `kill` and `terminate`."""

    broker: BrokerChoice


class Pause(_Deed, frozen=True, tag="pause"):
    """SIGSTOP for a broker, as a long garbage collection: it loses its session, and does not know."""

    broker: BrokerChoice


class Resume(_Deed, frozen=True, tag="resume"):
    """SIGCONT: a zombie wakes up and is fenced. Repairs `pause`."""

    broker: BrokerChoice


class CutLink(_Deed, frozen=True, tag="cut"):
    """No byte passes between two places: open connections stall, new ones are closed."""

    between: tuple[Place, Place]


class SlowLink(_Deed, frozen=True, tag="slow"):
    """Every byte between two places takes so many ms longer, each way."""

    between: tuple[Place, Place]
    delay_ms: float


class HealLink(_Deed, frozen=True, tag="heal"):
    """What stalled goes on. Repairs `cut` and `slow`."""

    between: tuple[Place, Place]


class ExpireSession(_Deed, frozen=True, tag="expire"):
    """Ends a broker's ZooKeeper session at once, behind its back; the process lives. It comes back by itself."""

    broker: BrokerChoice


class KillController(_Deed, frozen=True, tag="kill-controller"):
    """Kills the controller; with a step, the next controller too, as soon as its failover has come so far."""

    step: str = ""


class KillZooKeeper(_Deed, frozen=True, tag="kill-zookeeper"):
    """SIGKILL for a ZooKeeper server, the first of which is 1."""

    server: int


class StartZooKeeper(_Deed, frozen=True, tag="start-zookeeper"):
    """Starts a ZooKeeper server that does not run, with what it had. Repairs `kill-zookeeper`."""

    server: int


class FillLogDir(_Deed, frozen=True, tag="fill-log-dir"):
    """Lets a broker's log folder hold no more than so many bytes of segments; None for what is in it now."""

    broker: BrokerChoice
    limit_bytes: int | None = None


class FreeLogDir(_Deed, frozen=True, tag="free-log-dir"):
    """Takes the limit away; a broker that took its folder offline has to be started anew. Repairs `fill-log-dir`."""

    broker: BrokerChoice


class CorruptSegment(_Deed, frozen=True, tag="corrupt"):
    """Flips bytes in the middle of a segment of a broker's copy, where its batches are; the process may run."""

    broker: BrokerChoice
    partition: str
    """`orders-0`"""
    segment: Literal["last", "oldest"] = "last"


class RestoreSegment(_Deed, frozen=True, tag="restore"):
    """Writes the flipped bytes back where the broker has not replaced them. Repairs `corrupt`."""

    broker: BrokerChoice
    partition: str


class StopConsumer(_Deed, frozen=True, tag="stop-consumer"):
    """Cuts off a consumer of the load without a goodbye: its session times out."""

    group: str
    member: str


class StartConsumer(_Deed, frozen=True, tag="start-consumer"):
    """Brings a stopped consumer back. Repairs `stop-consumer`."""

    group: str
    member: str


class SetRate(_Deed, frozen=True, tag="set-rate"):
    """How many records a second the load produces; 0 pauses it."""

    rate: float


class Undo(_Deed, frozen=True, tag="undo"):
    """Repairs an open fault by its number; the last one that can be repaired if None."""

    number: int | None = None


class UndoAll(_Deed, frozen=True, tag="undo-all"):
    """Repairs all open faults, the last one first."""


Fault = (
    Kill | Terminate | Pause | CutLink | SlowLink | ExpireSession | KillController | KillZooKeeper
    | FillLogDir | CorruptSegment | StopConsumer
)  # fmt: skip
Repair = Start | Resume | HealLink | StartZooKeeper | FreeLogDir | RestoreSegment | StartConsumer
Deed = Fault | Repair | SetRate | Undo | UndoAll
