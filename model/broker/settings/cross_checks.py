"""Settings that contradict each other, one check each, each with a sentence for the user.

Source: `KafkaConfig.validateValues` (3.9).
"""

from collections.abc import Callable

from model.broker.replication_rules import replication_rules_of
from model.broker.settings import broker_keys, log_keys, replication_keys
from model.broker.settings.key import Key
from model.broker.settings.listeners import listener_refusals
from model.broker.settings.settings import Settings


def contradictions(settings: Settings) -> tuple[str, ...]:
    """A sentence for each; none: the broker can start."""
    return tuple(refusal for check in _CHECKS if (refusal := check(settings))) + listener_refusals(settings)


def _zookeeper(settings: Settings) -> str | None:
    if settings[broker_keys.ZOOKEEPER_CONNECT]:
        return None
    return "zookeeper.connect is missing: name a server, as localhost:2181/kafka"


def _broker_id(settings: Settings) -> str | None:
    broker, most = settings[broker_keys.BROKER_ID], settings[broker_keys.RESERVED_BROKER_MAX_ID]
    if settings[broker_keys.BROKER_ID_GENERATION_ENABLE]:
        if -1 <= broker <= most:
            return None
        return f"broker.id is {broker}: it takes 0 to {most} (reserved.broker.max.id), or -1 to be given one"
    return None if broker >= 0 else f"broker.id is {broker}: without broker.id.generation.enable it takes 0 or more"


def _release(settings: Settings) -> str | None:
    try:
        replication_rules_of(settings[broker_keys.INTER_BROKER_PROTOCOL_VERSION])
    except ValueError as error:
        return f"inter.broker.protocol.version: {error}"
    return None


def _fetch_wait_and_lag(settings: Settings) -> str | None:
    wait_ms, lag_ms = (
        settings[replication_keys.REPLICA_FETCH_WAIT_MAX_MS],
        settings[replication_keys.REPLICA_LAG_TIME_MAX_MS],
    )
    if wait_ms <= lag_ms:
        return None
    return f"replica.fetch.wait.max.ms is {wait_ms}: it must not be above replica.lag.time.max.ms ({lag_ms})"


def _fetch_wait_and_timeout(settings: Settings) -> str | None:
    wait_ms, timeout_ms = (
        settings[replication_keys.REPLICA_FETCH_WAIT_MAX_MS],
        settings[replication_keys.REPLICA_SOCKET_TIMEOUT_MS],
    )
    if timeout_ms >= wait_ms:
        return None
    return f"replica.socket.timeout.ms is {timeout_ms}: it must be replica.fetch.wait.max.ms ({wait_ms}) at least"


def _retention(settings: Settings) -> str | None:
    units: tuple[Key[int | None], ...] = (
        log_keys.LOG_RETENTION_MS,
        log_keys.LOG_RETENTION_MINUTES,
        log_keys.LOG_RETENTION_HOURS,
    )
    for key in units:
        if settings[key] == 0:
            return f"{key.name} is 0: it takes 1 or more, or -1 to keep all"
    return None


_CHECKS: tuple[Callable[[Settings], str | None], ...] = (
    _zookeeper,
    _broker_id,
    _release,
    _fetch_wait_and_lag,
    _fetch_wait_and_timeout,
    _retention,
)
