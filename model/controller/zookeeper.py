"""What a controller asks of ZooKeeper and is answered, as values of its own. Nothing is carried out here.

Requests of one question are sent one after the other without waiting (pipelined) and answered in that order. A lost
connection is the host's to repair; an expired session answers everything still open with SESSION_EXPIRED.
"""

from enum import IntEnum

import msgspec

CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
BROKER_IDS = "/brokers/ids"
TOPICS = "/brokers/topics"
DELETIONS = "/admin/delete_topics"
REASSIGNMENTS = "/admin/reassign_partitions"
PREFERRED_ELECTION = "/admin/preferred_replica_election"
ISR_CHANGES = "/isr_change_notification"
LOG_DIR_EVENTS = "/log_dir_event_notification"
FEATURE = "/feature"
CLUSTER_ID = "/cluster/id"
PRODUCER_IDS = "/latest_producer_id_block"
TOKENS = "/delegation_token/tokens"

ANY_VERSION = -1


class Read(msgspec.Struct, frozen=True, gc=False):
    """A znode's data and metadata; `watch` sets a one-shot data watch if it is there."""

    path: str
    watch: bool = False


class Exists(msgspec.Struct, frozen=True, gc=False):
    """A znode's metadata; `watch` also waits for the creation of a missing one."""

    path: str
    watch: bool = False


class Children(msgspec.Struct, frozen=True, gc=False):
    """The names below a znode, sorted; `watch` sets a one-shot child watch."""

    path: str
    watch: bool = False


class Create(msgspec.Struct, frozen=True, gc=False):
    """Make a znode; null data is `b""`. To the name of a `sequential` one ZooKeeper adds a number of ten digits."""

    path: str
    data: bytes = b""
    ephemeral: bool = False
    sequential: bool = False


class SetData(msgspec.Struct, frozen=True, gc=False):
    """Replace a znode's data if its version fits."""

    path: str
    data: bytes
    version: int = ANY_VERSION


class Delete(msgspec.Struct, frozen=True, gc=False):
    """Remove a znode without children if its version fits."""

    path: str
    version: int = ANY_VERSION


class Check(msgspec.Struct, frozen=True, gc=False):
    """Part of a Multi only: fail it unless the version fits."""

    path: str
    version: int


READS = (Read, Exists, Children)
Write = Create | SetData | Delete


class Multi(msgspec.Struct, frozen=True, gc=False):
    """All of these or none."""

    parts: tuple[Write | Check, ...]


ZooKeeperRequest = Read | Exists | Children | Write | Multi


class Code(IntEnum):
    """`org.apache.zookeeper.KeeperException.Code`. FENCED is ours: the check of the controller epoch failed."""

    OK = 0
    ROLLED_BACK = -2
    NO_NODE = -101
    BAD_VERSION = -103
    NODE_EXISTS = -110
    NOT_EMPTY = -111
    SESSION_EXPIRED = -112
    OTHER = -1
    FENCED = -1000


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What became of one request; fields that it does not concern keep their defaults.

    `parts` has an answer for each part of a Multi; `code` is then that of the first part that failed.
    """

    code: Code = Code.OK
    data: bytes = b""
    version: int = -1
    czxid: int = -1
    owner: int = 0
    names: tuple[str, ...] = ()
    parts: "tuple[Answer, ...]" = ()

    @property
    def ok(self) -> bool:
        """Whether it was done."""
        return self.code is Code.OK


def fenced(write: Write, epoch_version: int) -> Multi:
    """A write that only takes place while this is still the newest controller (KAFKA-6082, 2.1)."""
    return Multi((Check(CONTROLLER_EPOCH, epoch_version), write))


def unfenced(request: ZooKeeperRequest, answer: Answer) -> Answer:
    """The write's own answer if the request is a fenced one; FENCED if another controller came after this."""
    if not isinstance(request, Multi) or not answer.parts:
        return answer
    first = request.parts[0]
    if not isinstance(first, Check) or first.path != CONTROLLER_EPOCH:
        return answer
    return answer.parts[1] if answer.parts[0].ok else Answer(Code.FENCED)
