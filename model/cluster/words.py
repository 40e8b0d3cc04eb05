"""How findings and changes write numbers, partitions and brokers. It knows no severity and no colour."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

MOST = 8
"""A sentence names this many things; the rest is counted."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 partition`, `1,603 partitions`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def ranges(numbers: Sequence[int], most: int = MOST) -> str:
    """Ascending numbers as ranges: `0-3,7`; after `most` ranges `+12 more` counts the numbers left out."""
    starts = [0, *(i + 1 for i, (one, other) in enumerate(pairwise(numbers)) if other != one + 1)]
    ends = [*(start - 1 for start in starts[1:]), len(numbers) - 1]
    spans = [(numbers[s], numbers[e]) for s, e in zip(starts[:most], ends, strict=False)] if numbers else []
    text = ",".join(f"{low}" if low == high else f"{low}-{high}" for low, high in spans)
    left = len(numbers) - (ends[most - 1] + 1 if len(starts) > most else len(numbers))
    return f"{text} +{left:,} more" if left else text


def listed(names: Iterable[object], most: int = MOST) -> str:
    """`a, b, c`; after `most` of them `+4 more`."""
    texts = [str(name) for name in names]
    left = len(texts) - most
    return ", ".join(texts[:most]) + (f" +{left:,} more" if left > 0 else "")


def brokers(ids: Iterable[int]) -> str:
    """`broker 5`, `brokers 5, 6`, `no broker`."""
    numbers = sorted(set(ids))
    if not numbers:
        return "no broker"
    return f"broker{'s' if len(numbers) > 1 else ''} {listed(numbers)}"


def replicas(ids: Iterable[int]) -> str:
    """A replica list or ISR as Kafka's tools print it, `1,2,3`; `none` where empty."""
    return ",".join(str(broker) for broker in ids) or "none"
