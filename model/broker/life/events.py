"""What can happen in a broker's life. Facts only."""

import msgspec


class LifeEvent(msgspec.Struct, frozen=True):
    """Something that happened."""


class ProcessStarted(LifeEvent, frozen=True):
    """`clean`: every log dir has the mark of a clean shutdown."""

    clean: bool


class LogsLoaded(LifeEvent, frozen=True):
    """All logs are open, recovered where that was needed."""


class BrokerRegistered(LifeEvent, frozen=True):
    """The broker's znode is there, by this process; it also serves requests by now."""

    broker_epoch: int


class StartFailed(LifeEvent, frozen=True):
    """Nothing can come of this process: another broker has its id, its port is taken, its cluster is another one."""

    why: str


class TerminationRequested(LifeEvent, frozen=True):
    """SIGTERM, or an operator."""


class ControllerAnswered(LifeEvent, frozen=True):
    """The answer to ControlledShutdown; `remaining`: partitions that this broker still leads."""

    error: str = "NONE"
    remaining: int = 0


class ControllerMissing(LifeEvent, frozen=True):
    """There is no controller, or it did not answer in time."""

    why: str


class BackoffOver(LifeEvent, frozen=True):
    """The time of `WaitBeforeRetry` is up."""


class ServingStopped(LifeEvent, frozen=True):
    """No request is open any more, and all logs are flushed and closed."""
