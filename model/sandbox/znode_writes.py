"""What can be asked of a ZooKeeper server that belongs to the sandbox, as values. Carried out by a ZnodeSession."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CreateZnode:
    """Make a znode, which must not exist, under a parent that must."""

    path: str
    data: bytes = b""
    ephemeral: bool = False
    sequential: bool = False


@dataclass(frozen=True)
class WriteZnode:
    """Replace the data of a znode, which must exist."""

    path: str
    data: bytes


@dataclass(frozen=True)
class DeleteZnode:
    """Remove a znode, which must exist and have no children."""

    path: str


ZnodeWrite = CreateZnode | WriteZnode | DeleteZnode
