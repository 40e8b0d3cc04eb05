"""Which partitions are fetched from which leader now, and when to look again. Nothing is sent.

Source: `AbstractFetcherManager.getFetcherId`, `AbstractFetcherThread.doWork`, `ReplicaFetcherThread.buildFetch` (3.9).
"""

from collections.abc import Callable, Iterable

import msgspec

from model.broker.log_positions import LogPositions
from model.broker.replication.fetch_state import FetchState
from model.broker.replication.truncation import epoch_to_ask
from model.broker.replication_rules import ReplicationRules
from model.cluster.ids import TopicPartition


class Fetcher(msgspec.Struct, frozen=True, order=True):
    """One connection to a leader that fetches; `number` of num.replica.fetchers."""

    leader: int
    number: int = 0


class FetchRound(msgspec.Struct, frozen=True):
    """What one fetcher does next."""

    fetches: tuple[FetchState, ...] = ()
    questions: tuple[tuple[FetchState, int], ...] = ()
    """Truncating partitions, and the epochs to ask for with OffsetForLeaderEpoch."""
    cuts: tuple[FetchState, ...] = ()
    """Truncating partitions with nothing to ask for (`truncate_unasked`)."""
    wake_at_ms: int | None = None
    """When the first back-off ends; None if none is running."""


def fetcher_of(partition: TopicPartition, leader: int, fetchers: int) -> Fetcher:
    """The fetcher of a partition, as in Kafka: by a hash, so that it does not change."""
    number = abs(_int32(31 * _java_hash(partition.topic) + partition.partition))
    return Fetcher(leader, (0 if number == 2**31 else number) % fetchers)


def plan_round(
    states: Iterable[FetchState],
    logs: Callable[[TopicPartition], LogPositions],
    now_ms: int,
    rules: ReplicationRules,
) -> FetchRound:
    """The next round of one fetcher: what is truncating asks or cuts, the rest fetches, and what backs off waits."""
    due = list(states)
    waiting = [state.not_before_ms for state in due if state.not_before_ms > now_ms]
    due = [state for state in due if state.not_before_ms <= now_ms]
    truncating = [(state, epoch_to_ask(state, logs(state.partition), rules)) for state in due if state.truncating]
    return FetchRound(
        fetches=tuple(state for state in due if not state.truncating),
        questions=tuple((state, epoch) for state, epoch in truncating if epoch is not None),
        cuts=tuple(state for state, epoch in truncating if epoch is None),
        wake_at_ms=min(waiting, default=None),
    )


def plan_fetches(
    states: Iterable[FetchState],
    logs: Callable[[TopicPartition], LogPositions],
    now_ms: int,
    rules: ReplicationRules,
    fetchers: int = 1,
) -> dict[Fetcher, FetchRound]:
    """A round for each fetcher that has a partition, even if all of them back off."""
    by_fetcher: dict[Fetcher, list[FetchState]] = {}
    for state in states:
        by_fetcher.setdefault(fetcher_of(state.partition, state.leader, fetchers), []).append(state)
    return {fetcher: plan_round(of_it, logs, now_ms, rules) for fetcher, of_it in sorted(by_fetcher.items())}


def _java_hash(text: str) -> int:
    """`String.hashCode` of a topic's name, which is ASCII."""
    result = 0
    for character in text:
        result = _int32(31 * result + ord(character))
    return result


def _int32(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31
