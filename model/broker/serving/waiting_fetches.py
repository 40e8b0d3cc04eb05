"""Whether a fetch is answered now or waits for more records.

Source: `ReplicaManager.fetchMessages`, `DelayedFetch.tryComplete` (3.9).
"""

from collections.abc import Iterable

import msgspec

from model.broker.serving.reads import ReadJudgement


class WaitingFetch(msgspec.Struct, frozen=True):
    """`min_bytes` over all partitions; `deadline_ms` since the epoch (the request's max wait from its arrival on)."""

    min_bytes: int
    deadline_ms: int


def is_ready(waiting: WaitingFetch, reads: Iterable[tuple[ReadJudgement, int]], now_ms: int) -> bool:
    """Judgements with the bytes that can be read, of all partitions of the fetch.

    An error and a divergence are told at once; a fetch of nothing has nothing to wait for.
    """
    judged = list(reads)
    if not judged or now_ms >= waiting.deadline_ms:
        return True
    if not all(judgement.is_progress for judgement, _ in judged):
        return True
    return sum(size for _, size in judged) >= waiting.min_bytes
