"""A request of a group taken to its coordinator, or refused at once where this broker is not that."""

from typing import TypeVar

from model.consumers.group_coordinator.commands import Answer
from model.consumers.group_coordinator.coordinate import refuse
from model.consumers.group_coordinator.events import GroupRequest
from model.consumers.group_coordinator.offsets_topic import standing_error
from model.hosts.live_broker.groups.group_coordinator import GroupCoordinator

A = TypeVar("A", bound=Answer)


async def ask(coordinator: GroupCoordinator, event: GroupRequest, answer: type[A], *, needs_name: bool = True) -> A:
    """The answer, of the kind that belongs to the event."""
    error = standing_error(event.group_id, coordinator.standing(event.group_id), needs_name=needs_name)
    given = refuse(event, error) if error is not None else await coordinator.ask(event)
    assert isinstance(given, answer)
    return given
