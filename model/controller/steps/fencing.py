"""Writes that only the newest controller can make, and what to do with their answers. It knows no znode's meaning."""

from collections.abc import Iterable

from model.controller.context import ControllerContext
from model.controller.zookeeper import Multi, Write, fenced


def fence(context: ControllerContext, writes: Iterable[Write]) -> tuple[Multi, ...]:
    """Each write in a transaction of its own with the check of the controller epoch, as Kafka does from 2.1 on."""
    return tuple(fenced(write, context.epoch_version) for write in writes)
