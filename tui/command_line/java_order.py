"""The order in which Kafka's tools print what they keep in Java's hash tables."""

from collections.abc import Mapping, Sequence

from model.consumers.assignors.java_hashing import string_hashes, walk

_PROPERTIES_TABLE = 16


def hashed(names: Sequence[str], table: int | None = None) -> list[str]:
    """As a `java.util.HashMap` is walked that the names were put into; `table` is its number of buckets."""
    return [names[int(place)] for place in walk(string_hashes(names), table)]


def as_properties(config: Mapping[str, str]) -> dict[str, str]:
    """As `java.util.Properties` are walked, which are a ConcurrentHashMap (Java 9 and later)."""
    table = _PROPERTIES_TABLE
    while len(config) >= table * 3 // 4:
        table *= 2
    return {name: config[name] for name in hashed(list(config), table)}
