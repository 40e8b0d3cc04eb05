"""What a broker wants done for its own life. A host does it, in order, and decides nothing."""

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
