"""What a client may ask of ZooKeeper and what it is answered, as values. Nothing is carried out here.

The operations are those of `org.apache.zookeeper.ZooDefs.OpCode` (3.4 to 3.9) that Kafka uses, under ZooKeeper's names;
there are no ACLs, quotas, containers or TTLs. A null payload is `b""`. Controllers and consumers ask them, a real
server (`model.hosts.writing_zookeeper`) or one in memory (`model.hosts.memory_zookeeper`) answers.

Operations of one question are sent one after the other without waiting (pipelined) and answered in that order. A lost
connection is the host's to repair; an expired session answers everything still open with SESSION_EXPIRED.
"""

from enum import IntEnum

import msgspec

from model.zookeeper.znodes import Stat

ANY_VERSION = -1
"""The expected version that fits every version."""


class GetData(msgspec.Struct, frozen=True, gc=False):
    """A znode's data and metadata; `watch` sets a one-shot data watch if it is there."""

    path: str
    watch: bool = False


class GetChildren(msgspec.Struct, frozen=True, gc=False):
    """The names below a znode, sorted; `watch` sets a one-shot child watch."""

    path: str
    watch: bool = False


class Exists(msgspec.Struct, frozen=True, gc=False):
    """A znode's metadata; `watch` also waits for the creation of a missing one."""

    path: str
    watch: bool = False


class Create(msgspec.Struct, frozen=True, gc=False):
    """Make a znode, which must not exist, under a parent that must.

    A sequential one gets ten digits behind its path: how many children the parent ever had.
    """

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
    """Fail the Multi it is in unless the znode is there with this version. A real server hangs up on a lone one."""

    path: str
    version: int


Read = GetData | GetChildren | Exists
Write = Create | SetData | Delete


class Multi(msgspec.Struct, frozen=True, gc=False):
    """All of these in one transaction, or none."""

    parts: tuple[Write | Check, ...]


ZooKeeperRequest = Read | Write | Multi
"""What controllers and consumers ask."""


class Sync(msgspec.Struct, frozen=True, gc=False):
    """Wait until the server has caught up with the leader."""

    path: str


class WatchMode(IntEnum):
    """`org.apache.zookeeper.AddWatchMode`."""

    PERSISTENT = 0
    PERSISTENT_RECURSIVE = 1


class AddWatch(msgspec.Struct, frozen=True, gc=False):
    """A watch that stays after it fires (ZOOKEEPER-1416, since 3.6.0). The znode need not exist."""

    path: str
    mode: WatchMode


class SetWatches(msgspec.Struct, frozen=True, gc=False):
    """One-shot watches, set without reading, as after a lost connection.

    Those whose znode changed after `zxid` fire at once, with an event whose zxid is -1.
    """

    zxid: int
    data: tuple[str, ...] = ()
    existence: tuple[str, ...] = ()
    children: tuple[str, ...] = ()


Operation = ZooKeeperRequest | Sync | AddWatch | SetWatches


class Code(IntEnum):
    """`org.apache.zookeeper.KeeperException.Code`. FENCED is ours: the check of the controller epoch failed."""

    OK = 0
    OTHER = -1
    """SYSTEMERROR, and whatever has no name here."""
    RUNTIME_INCONSISTENCY = -2
    """Of a part of a Multi: it was not tried, because an earlier one failed."""
    BAD_ARGUMENTS = -8
    NO_NODE = -101
    BAD_VERSION = -103
    NO_CHILDREN_FOR_EPHEMERALS = -108
    NODE_EXISTS = -110
    NOT_EMPTY = -111
    SESSION_EXPIRED = -112
    FENCED = -1000


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What became of one operation; fields that it does not concern keep their defaults.

    `stat` is None also for a Create that a real server answered: it sends none. `path` is that of what was created,
    the digits of a sequential one included. `parts` has an answer for each part of a Multi; `code` is then that of
    the first part that failed, parts before it say OK and those behind it RUNTIME_INCONSISTENCY.
    """

    code: Code = Code.OK
    data: bytes = b""
    stat: Stat | None = None
    names: tuple[str, ...] = ()
    path: str = ""
    parts: "tuple[Answer, ...]" = ()

    @property
    def ok(self) -> bool:
        """Whether it was done."""
        return self.code is Code.OK

    @property
    def version(self) -> int:
        """The znode's version of data, 0 for one that was just created; -1 if the answer tells none."""
        if self.stat is None:
            return 0 if self.path else -1
        return self.stat.version

    @property
    def czxid(self) -> int:
        """The transaction that created the znode; -1 if the answer does not tell."""
        return -1 if self.stat is None else self.stat.czxid

    @property
    def owner(self) -> int:
        """The session that an ephemeral znode belongs to; 0 for any other."""
        return 0 if self.stat is None else self.stat.ephemeral_owner
