"""A broker's life, from its start through a controlled shutdown to its end: what each state does about each event.

It registers nowhere and waits for nothing itself: commands are for a host, which tells what came of them as events.
The registration itself, and the election of a controller, are the controller's part.

Source: `kafka.server.KafkaServer.startup`, `shutdown`, `controlledShutdown`; `BrokerState` (3.9).
"""

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import NamedTuple

import msgspec


class LifeCommand(msgspec.Struct, frozen=True):
    """Something to do for the life of the broker."""


class LoadLogs(LifeCommand, frozen=True):
    """Open all logs; `recover` checks them from the recovery point on."""

    recover: bool


class RegisterBroker(LifeCommand, frozen=True):
    """Listen, tell ZooKeeper, run for controller: tell BrokerRegistered or StartFailed."""


class AskToShutDown(LifeCommand, frozen=True):
    """Send ControlledShutdown to the controller that is known now, with the broker epoch of now."""


class WaitBeforeRetry(LifeCommand, frozen=True):
    """Tell BackoffOver after this time."""

    after_ms: int


class StopServing(LifeCommand, frozen=True):
    """Take no more requests, end those that are open, stop fetching, flush and close all logs: tell ServingStopped."""


class MarkCleanShutdown(LifeCommand, frozen=True):
    """Write the mark into every log dir that has not failed: all is on disk."""


class CloseSession(LifeCommand, frozen=True):
    """Close the ZooKeeper session, which ends the registration, then the process."""


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


class BrokerState(IntEnum):
    """Kafka's numbers, as its metric `BrokerState` tells them."""

    NOT_RUNNING = 0
    STARTING = 1
    RECOVERY = 2
    RUNNING = 3
    PENDING_CONTROLLED_SHUTDOWN = 6
    SHUTTING_DOWN = 7


class ShutdownSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings by the names of their keys. The retries are all attempts, the first included."""

    controlled_shutdown_enable: bool = True
    controlled_shutdown_max_retries: int = 3
    controlled_shutdown_retry_backoff_ms: int = 5_000


class BrokerLife(msgspec.Struct, frozen=True):
    """Where a broker is in its life. `attempts_left`: of the controlled shutdown. `logs_open`: all of them."""

    settings: ShutdownSettings = ShutdownSettings()
    state: BrokerState = BrokerState.NOT_RUNNING
    attempts_left: int = 0
    logs_open: bool = False


class LifeDecision(NamedTuple):
    """The next state, what to do, and why."""

    life: BrokerLife
    commands: tuple[LifeCommand, ...] = ()
    why: str = ""


def live(life: BrokerLife, event: LifeEvent) -> LifeDecision:
    """What follows. An event that the state has no use for changes nothing: a late answer, a second SIGTERM."""
    step = _TABLE.get((life.state, type(event)))
    return step(life, event) if step else LifeDecision(life)


def _to(life: BrokerLife, state: BrokerState, *commands: LifeCommand, why: str) -> LifeDecision:
    return LifeDecision(msgspec.structs.replace(life, state=state), commands, why)


def _start(life: BrokerLife, event: LifeEvent) -> LifeDecision:
    assert isinstance(event, ProcessStarted)
    if event.clean:
        return _to(life, BrokerState.STARTING, LoadLogs(False), why="The last shutdown was clean: logs are opened.")
    return _to(life, BrokerState.RECOVERY, LoadLogs(True), why="The last shutdown was not clean: logs are recovered.")


def _register(life: BrokerLife, event: LifeEvent) -> LifeDecision:
    opened = msgspec.structs.replace(life, logs_open=True)
    return _to(opened, BrokerState.STARTING, RegisterBroker(), why="All logs are open: the broker registers.")


def _run(life: BrokerLife, event: LifeEvent) -> LifeDecision:
    assert isinstance(event, BrokerRegistered)
    return _to(life, BrokerState.RUNNING, why=f"The broker is registered with epoch {event.broker_epoch}.")


def _give_up(life: BrokerLife, event: LifeEvent) -> LifeDecision:
    assert isinstance(event, StartFailed)
    return _to(life, BrokerState.SHUTTING_DOWN, StopServing(), why=f"The broker cannot start: {event.why}")


def _stop(life: BrokerLife, why: str) -> LifeDecision:
    return _to(life, BrokerState.SHUTTING_DOWN, StopServing(), why=why)


def _stop_early(life: BrokerLife, event: LifeEvent) -> LifeDecision:
    return _stop(life, "The broker is to stop before it has started: it leads nothing that could be moved.")


def _terminate(life: BrokerLife, event: LifeEvent) -> LifeDecision:
    settings = life.settings
    if not settings.controlled_shutdown_enable or settings.controlled_shutdown_max_retries < 1:
        return _stop(life, "The broker stops without a controlled shutdown, as it is set to.")
    attempts_left = settings.controlled_shutdown_max_retries - 1
    asking = msgspec.structs.replace(life, attempts_left=attempts_left)
    why = "The broker asks the controller to move what it leads."
    return _to(asking, BrokerState.PENDING_CONTROLLED_SHUTDOWN, AskToShutDown(), why=why)


def _hear(life: BrokerLife, event: LifeEvent) -> LifeDecision:
    assert isinstance(event, ControllerAnswered)
    if event.error == "NONE" and event.remaining == 0:
        return _stop(life, "Others lead what the broker led: it stops.")
    if event.error != "NONE":
        return _retry(life, f"the controller answers {event.error}")
    return _retry(life, f"{event.remaining} partitions have no other leader yet")


def _miss(life: BrokerLife, event: LifeEvent) -> LifeDecision:
    assert isinstance(event, ControllerMissing)
    return _retry(life, event.why)


def _retry(life: BrokerLife, why: str) -> LifeDecision:
    if life.attempts_left < 1:
        return _stop(life, f"The controlled shutdown has failed ({why}): the broker stops all the same, uncleanly.")
    wait = WaitBeforeRetry(life.settings.controlled_shutdown_retry_backoff_ms)
    return LifeDecision(life, (wait,), f"The controlled shutdown has to wait: {why}.")


def _ask_again(life: BrokerLife, event: LifeEvent) -> LifeDecision:
    again = msgspec.structs.replace(life, attempts_left=life.attempts_left - 1)
    return LifeDecision(again, (AskToShutDown(),), "The broker asks the controller again.")


def _end(life: BrokerLife, event: LifeEvent) -> LifeDecision:
    if not life.logs_open:
        why = "Some logs were not opened: the next start recovers them."
        return _to(life, BrokerState.NOT_RUNNING, CloseSession(), why=why)
    return _to(life, BrokerState.NOT_RUNNING, MarkCleanShutdown(), CloseSession(), why="All is on disk.")


_TABLE: Mapping[tuple[BrokerState, type[LifeEvent]], Callable[[BrokerLife, LifeEvent], LifeDecision]] = {
    (BrokerState.NOT_RUNNING, ProcessStarted): _start,
    (BrokerState.STARTING, LogsLoaded): _register,
    (BrokerState.RECOVERY, LogsLoaded): _register,
    (BrokerState.STARTING, BrokerRegistered): _run,
    (BrokerState.STARTING, StartFailed): _give_up,
    (BrokerState.RECOVERY, StartFailed): _give_up,
    (BrokerState.STARTING, TerminationRequested): _stop_early,
    (BrokerState.RECOVERY, TerminationRequested): _stop_early,
    (BrokerState.RUNNING, TerminationRequested): _terminate,
    (BrokerState.PENDING_CONTROLLED_SHUTDOWN, ControllerAnswered): _hear,
    (BrokerState.PENDING_CONTROLLED_SHUTDOWN, ControllerMissing): _miss,
    (BrokerState.PENDING_CONTROLLED_SHUTDOWN, BackoffOver): _ask_again,
    (BrokerState.SHUTTING_DOWN, ServingStopped): _end,
}
