"""A broker's life: start, controlled shutdown, end, as a trace of events and commands."""

from __future__ import annotations

from model.broker.life import (
    AskToShutDown,
    BackoffOver,
    BrokerLife,
    BrokerRegistered,
    BrokerState,
    CloseSession,
    ControllerAnswered,
    ControllerMissing,
    LifeCommand,
    LifeEvent,
    LoadLogs,
    LogsLoaded,
    MarkCleanShutdown,
    ProcessStarted,
    RegisterBroker,
    ServingStopped,
    ShutdownSettings,
    StartFailed,
    StopServing,
    TerminationRequested,
    WaitBeforeRetry,
    live,
)

RUNNING = BrokerLife(state=BrokerState.RUNNING, logs_open=True)


class Trace:
    """What a broker sees and what it does about it, in order."""

    def __init__(self, life: BrokerLife) -> None:
        self.life = life
        self.commands: tuple[LifeCommand, ...] = ()
        self.why = ""

    def sees(self, event: LifeEvent) -> Trace:
        """>> event"""
        self.life, self.commands, self.why = live(self.life, event)
        return self

    def does(self, *expected: LifeCommand) -> Trace:
        """<< commands"""
        assert self.commands == expected
        return self


def test_from_start_to_end() -> None:
    trace = Trace(BrokerLife())
    trace.sees(ProcessStarted(clean=True)).does(LoadLogs(recover=False))
    trace.sees(LogsLoaded()).does(RegisterBroker())
    trace.sees(BrokerRegistered(40)).does()
    assert trace.life.state is BrokerState.RUNNING
    trace.sees(TerminationRequested()).does(AskToShutDown())
    assert trace.life.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN
    trace.sees(ControllerAnswered()).does(StopServing())
    trace.sees(ServingStopped()).does(MarkCleanShutdown(), CloseSession())
    assert trace.life.state is BrokerState.NOT_RUNNING


def test_after_a_crash_logs_are_recovered_first() -> None:
    trace = Trace(BrokerLife())
    trace.sees(ProcessStarted(clean=False)).does(LoadLogs(recover=True))
    assert trace.life.state is BrokerState.RECOVERY
    trace.sees(LogsLoaded()).does(RegisterBroker())
    assert trace.life.state is BrokerState.STARTING


def test_the_controller_is_asked_three_times() -> None:
    trace = Trace(RUNNING)
    trace.sees(TerminationRequested()).does(AskToShutDown())
    trace.sees(ControllerAnswered(remaining=2)).does(WaitBeforeRetry(5_000))
    assert trace.why == "The controlled shutdown has to wait: 2 partitions have no other leader yet."
    trace.sees(BackoffOver()).does(AskToShutDown())
    trace.sees(ControllerMissing("there is no controller")).does(WaitBeforeRetry(5_000))
    trace.sees(BackoffOver()).does(AskToShutDown())
    trace.sees(ControllerAnswered("STALE_BROKER_EPOCH")).does(StopServing())
    assert "the controller answers STALE_BROKER_EPOCH" in trace.why
    assert "uncleanly" in trace.why


def test_without_controlled_shutdown_it_stops_at_once() -> None:
    for settings in (
        ShutdownSettings(controlled_shutdown_enable=False),
        ShutdownSettings(controlled_shutdown_max_retries=0),
    ):
        Trace(BrokerLife(settings, BrokerState.RUNNING)).sees(TerminationRequested()).does(StopServing())


def test_what_was_not_opened_is_not_called_clean() -> None:
    trace = Trace(BrokerLife())
    trace.sees(ProcessStarted(clean=False)).sees(TerminationRequested()).does(StopServing())
    trace.sees(ServingStopped()).does(CloseSession())


def test_a_start_that_fails_ends_orderly() -> None:
    trace = Trace(BrokerLife())
    trace.sees(ProcessStarted(clean=True)).sees(LogsLoaded()).sees(StartFailed("another broker has the id 1")).does(
        StopServing()
    )
    assert trace.why == "The broker cannot start: another broker has the id 1"
    trace.sees(ServingStopped()).does(MarkCleanShutdown(), CloseSession())


def test_what_comes_late_or_twice_changes_nothing() -> None:
    trace = Trace(RUNNING).sees(TerminationRequested())
    before = trace.life
    trace.sees(TerminationRequested()).does()
    assert trace.life == before
    trace.sees(ControllerAnswered()).sees(ControllerAnswered(remaining=3)).does()
    assert trace.life.state is BrokerState.SHUTTING_DOWN
