"""What a client may ask of ZooKeeper and what it is answered, as values. Nothing is carried out here.

The operations are those of org.apache.zookeeper.ZooDefs.OpCode that Kafka uses; there are no ACLs, quotas,
containers or TTLs. A null payload is `b""`.
"""

from enum import IntEnum

import msgspec

from model.hosts.zookeeper.requests import WatchMode
from model.hosts.zookeeper.values import Children, Stat, Znode

ANY_VERSION = -1
"""The expected version that fits every version."""


class Create(msgspec.Struct, frozen=True, gc=False):
    """Make a znode under a parent that exists; answered by Created.

    A sequential one gets ten digits behind its path: how many children the parent ever had.
    """

    path: str
    data: bytes = b""
    ephemeral: bool = False
    sequential: bool = False


class Delete(msgspec.Struct, frozen=True, gc=False):
    """Remove a znode without children; answered by None."""

    path: str
    version: int = ANY_VERSION


class SetData(msgspec.Struct, frozen=True, gc=False):
    """Replace a znode's data; answered by its new Stat."""

    path: str
    data: bytes
    version: int = ANY_VERSION


class CheckVersion(msgspec.Struct, frozen=True, gc=False):
    """Fail the Multi it is in unless the znode is there with this version; answered by None.

    Only in a Multi: a real server hangs up on a lone one.
    """

    path: str
    version: int


class Multi(msgspec.Struct, frozen=True):
    """All of these in one transaction, or none; answered by Committed or RolledBack."""

    operations: "tuple[Create | Delete | SetData | CheckVersion, ...]"


class GetData(msgspec.Struct, frozen=True, gc=False):
    """Read one znode; answered by it. `watch` sets a one-shot data watch if it is there."""

    path: str
    watch: bool = False


class GetChildren(msgspec.Struct, frozen=True, gc=False):
    """Read the names under one znode; answered by Children, sorted. `watch` sets a one-shot child watch."""

    path: str
    watch: bool = False


class Exists(msgspec.Struct, frozen=True, gc=False):
    """Read one znode's Stat; answered by it. `watch` also waits for the creation of a missing one."""

    path: str
    watch: bool = False


class Sync(msgspec.Struct, frozen=True, gc=False):
    """Wait for the leader, which here is oneself; answered by None."""

    path: str


class AddWatch(msgspec.Struct, frozen=True, gc=False):
    """A watch that stays after it fires; answered by None. The znode need not exist."""

    path: str
    mode: WatchMode


class SetWatches(msgspec.Struct, frozen=True, gc=False):
    """Set one-shot watches again after a lost connection; answered by None.

    Those whose znode changed after `zxid` fire at once, with an event whose zxid is -1.
    """

    zxid: int
    data: tuple[str, ...] = ()
    existence: tuple[str, ...] = ()
    children: tuple[str, ...] = ()


Part = Create | Delete | SetData | CheckVersion
Write = Create | Delete | SetData | Multi
"""Each takes a zxid, even when it fails."""
Read = GetData | GetChildren | Exists
Watching = AddWatch | SetWatches
Operation = Write | Read | Watching | Sync


class ErrorCode(IntEnum):
    """org.apache.zookeeper.KeeperException.Code."""

    OK = 0
    RUNTIME_INCONSISTENCY = -2
    BAD_ARGUMENTS = -8
    NO_NODE = -101
    BAD_VERSION = -103
    NO_CHILDREN_FOR_EPHEMERALS = -108
    NODE_EXISTS = -110
    NOT_EMPTY = -111
    SESSION_EXPIRED = -112


class Created(msgspec.Struct, frozen=True, gc=False):
    """A znode was made; `path` includes the digits of a sequential one."""

    path: str
    stat: Stat


class Failed(msgspec.Struct, frozen=True, gc=False):
    """The operation changed nothing."""

    code: ErrorCode


class Committed(msgspec.Struct, frozen=True):
    """A Multi took place; one result for each of its operations."""

    results: "tuple[Created | Stat | None, ...]"


class RolledBack(msgspec.Struct, frozen=True, gc=False):
    """A Multi did not take place.

    The codes: OK for those before the operation that failed, its reason, RUNTIME_INCONSISTENCY for those behind.
    """

    codes: tuple[ErrorCode, ...]


PartResult = Created | Stat | None
Result = PartResult | Znode | Children | Committed | RolledBack | Failed


class Reply(msgspec.Struct, frozen=True, gc=False):
    """The answer to an operation and the newest transaction it saw: for a write its own."""

    zxid: int
    result: Result
