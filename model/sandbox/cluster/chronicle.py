"""What happened in a sandbox, numbered, with times, told to whoever listens. Remembers nothing but the last number."""

import time
from collections.abc import Callable

from model.sandbox.control.state import EventKind, SandboxEvent

OnEvent = Callable[[SandboxEvent], None]


def now_ms() -> int:
    """Wall-clock time, ms since the epoch."""
    return time.time_ns() // 1_000_000


class Chronicle:
    """For one event loop."""

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event
        self.told = 0
        """How many events there were."""

    def tell(
        self,
        kind: EventKind,
        text: str,
        *,
        subject: str = "",
        fault: int | None = None,
        details: tuple[str, ...] = (),
    ) -> None:
        """It happened now."""
        self.told += 1
        self._on_event(
            SandboxEvent(
                number=self.told,
                at_ms=now_ms(),
                kind=kind,
                text=text,
                subject=subject,
                fault=fault,
                details=details,
            )
        )
