"""Writes that only the newest controller can make, and what to do with their answers. It knows no znode's meaning."""

from collections.abc import Iterable

from model.controller.context import ControllerContext
from model.controller.zookeeper import Write, ZooKeeperRequest, fenced


def fence(context: ControllerContext, writes: Iterable[Write]) -> tuple[ZooKeeperRequest, ...]:
    """Each write in a transaction of its own with the check of the controller epoch, as Kafka does from 2.1 on.

    Before, only the version of what is overwritten guarded a write, where it had one.
    """
    if not context.settings.forms.fenced:
        return tuple(writes)
    return tuple(fenced(write, context.epoch_version) for write in writes)
