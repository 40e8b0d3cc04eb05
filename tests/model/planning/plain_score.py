"""The definitions of a plan's score once more, as loops over sets: what the columns of model.planning must equal."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping

from model.cluster.ids import TopicPartition

Placed = Mapping[TopicPartition, tuple[int, ...]]


def plain_score(
    before: Placed,
    after: Placed,
    sizes: Mapping[TopicPartition, int],
    racks: Mapping[int, str | None],
    staying: Collection[int],
) -> dict[str, float]:
    """Of all partitions; `racks` of brokers that stay and that leave."""
    counts: Counter[str] = Counter()
    led, held, disk = Counter[int](), Counter[int](), Counter[int]()
    by_topic: defaultdict[str, Counter[int]] = defaultdict(Counter)
    possible = len({racks[broker] for broker in staying})
    for name, old in before.items():
        new = after[name]
        added = set(new) - set(old)
        counts["moves"] += len(added)
        counts["bytes"] += len(added) * sizes[name]
        counts["touched"] += new != old
        counts["reorders"] += new != old and set(new) == set(old)
        counts["leader_changes"] += new[0] != old[0]
        counts["elsewhere"] += any(broker not in staying for broker in new)
        counts["rack_violations"] += len({racks[broker] for broker in new}) < min(len(new), possible)
        led[new[0]] += 1
        for broker in new:
            held[broker] += 1
            disk[broker] += sizes[name]
            by_topic[name.topic][broker] += 1
    disks = [disk[broker] for broker in staying]
    spreads = [max(t[b] for b in staying) - min(t[b] for b in staying) for t in by_topic.values()]
    return {
        **{name: counts[name] for name in ("moves", "bytes", "touched", "reorders", "leader_changes")},
        **{name: counts[name] for name in ("elsewhere", "rack_violations")},
        "replicas_min": min(held[broker] for broker in staying),
        "replicas_max": max(held[broker] for broker in staying),
        "leaders_min": min(led[broker] for broker in staying),
        "leaders_max": max(led[broker] for broker in staying),
        "disk_spread_percent": round(100 * (max(disks) - min(disks)) / (sum(disks) / len(disks) or 1), 6),
        "topic_spread": round(sum(spreads) / len(spreads), 6),
    }
