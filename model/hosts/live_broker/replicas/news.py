"""Who waits for what happens to which partition. It passes on facts and keeps none."""

from enum import Enum
from typing import Protocol

from model.cluster.ids import TopicPartition


class News(Enum):
    """What happened to a partition."""

    GREW = "the leader's log has more records"
    COMMITTED = "the high watermark or the log's start has moved"
    CHANGED = "it has another role, another ISR, or is gone"


class Listener(Protocol):
    """Somebody who waits. Told on the event loop, in the middle of things: to take note, and act later."""

    def hear(self, name: TopicPartition, news: News) -> None:
        """Something happened to a partition."""
        ...


class NewsBoard:
    """Listeners by partition."""

    def __init__(self) -> None:
        self._listeners: dict[TopicPartition, dict[Listener, None]] = {}

    def listen(self, name: TopicPartition, listener: Listener) -> None:
        """Hear of a partition from now on."""
        self._listeners.setdefault(name, {})[listener] = None

    def leave(self, name: TopicPartition, listener: Listener) -> None:
        """Hear of it no more."""
        listeners = self._listeners.get(name)
        if listeners is not None:
            listeners.pop(listener, None)
            if not listeners:
                del self._listeners[name]

    def listeners(self, name: TopicPartition) -> tuple[Listener, ...]:
        """Who would hear of a partition."""
        return tuple(self._listeners.get(name, ()))

    def tell(self, name: TopicPartition, news: News) -> None:
        """Pass it on."""
        for listener in self.listeners(name):
            listener.hear(name, news)
