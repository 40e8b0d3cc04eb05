"""How long things take in a virtual cluster: stated once, so that every timeline can name what it assumed."""

import msgspec


class Assumptions(msgspec.Struct, frozen=True, kw_only=True):
    """All times in ms; fractions are kept to the microsecond. Decisions themselves take no time.

    Defaults are Kafka 3.9's settings where there is one. The others were measured, with both ends on one machine:
    `python -m tests.benchmarks assumed_times`.
    """

    session_timeout_ms: float = 18_000
    """zookeeper.session.timeout.ms (2.5 and later; 6,000 before): a silent broker loses its session after this."""
    zookeeper_read_ms: float = 1.0
    """From asking ZooKeeper to its answer, for reads; half of it each way. Measured: ten in 0.9 to 1.2 ms."""
    zookeeper_write_ms: float = 2.0
    """The same for a question, or part of one, that writes: it is on the disks of a quorum by then.
    Measured, without a quorum: ten in 1.2 to 1.9 ms."""
    in_flight: int = 10
    """zookeeper.max.in.flight.requests: so many requests of a question share the time of one."""
    request_ms: float = 15.0
    """From sending a broker a request to its answer; half of it each way. Measured: a LeaderAndIsr of 20 partitions to
    Kafka 3.9.1 in 15 to 16 ms."""
    retry_backoff_ms: float = 100
    """Before a controller sends a broker again what got lost (`kafka.controller.RequestSendThread`)."""
    reconnect_ms: float = 100
    """From the loss of a ZooKeeper connection, or the end of what kept it from working, to the next one."""
    catch_up_ms: float | None = 500
    """From a follower's first fetch until it is in sync, and the leader asks for it to be in the ISR. None: never."""
    replica_lag_ms: float | None = None
    """replica.lag.time.max.ms: a follower that does not fetch for so long leaves the ISR. None: it never does, for
    nothing is produced (an idle follower does not lag), or because its session ends sooner."""
    shutdown_retries: int = 3
    """controlled.shutdown.max.retries."""
    shutdown_backoff_ms: float = 5_000
    """controlled.shutdown.retry.backoff.ms."""
    start_ms: int = 0
    """When it begins, in ms since the epoch, UTC: the time in znodes. Records count from there."""


def microseconds(ms: float) -> int:
    """A time of the schedule."""
    return round(ms * 1_000)
