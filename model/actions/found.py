"""What was read of a cluster's ZooKeeper a moment before a proposal is made, and the writes that hold for just that."""

from collections.abc import Mapping

import msgspec

from model.actions.proposal import ZnodeWrite


class FoundZnode(msgspec.Struct, frozen=True):
    """A znode's payload and data version."""

    data: bytes
    version: int


Found = Mapping[str, FoundZnode]
"""By path; what is asked for and not in it does not exist."""


def create(path: str, data: bytes = b"", *, sequential: bool = False) -> ZnodeWrite:
    """A znode that is not there yet; it fails where it is."""
    return ZnodeWrite("create", path, after=data, sequential=sequential)


def put(found: Found, path: str, data: bytes) -> ZnodeWrite:
    """A payload for a znode, which is created if it was not found."""
    before = found.get(path)
    if before is None:
        return create(path, data)
    return ZnodeWrite("set", path, before=before.data, after=data, version=before.version)


def delete(found: Found, path: str) -> ZnodeWrite:
    """The end of a znode that was found. Raises KeyError for one that was not."""
    before = found[path]
    return ZnodeWrite("delete", path, before=before.data, version=before.version)


def check(found: Found, path: str) -> ZnodeWrite:
    """A znode that is not written, and must not be another than was found. Raises KeyError for one that was not."""
    return ZnodeWrite("check", path, version=found[path].version)
