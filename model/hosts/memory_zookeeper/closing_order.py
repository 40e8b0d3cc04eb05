"""In which order a ZooKeeper server deletes the ephemeral znodes of a session that ends.

It is the order of a java.util.HashSet of their paths, copied by clone() (DataTree.getEphemerals), and so the
order in which everybody hears of the deletions: which of a broker's znodes goes first is decided here. As in
Java 8 to 18; from Java 19 on the copy can have half the buckets (JDK-8281631), and another order.
"""

from collections.abc import Sequence

_LOAD_FACTOR = 0.75
_FEWEST_BUCKETS = 16


def closing_order(paths: Sequence[str], most: int) -> list[str]:
    """Sort the paths, given by age. `most` is how many the session ever had at once: a HashSet does not shrink."""
    buckets = _FEWEST_BUCKETS
    while most > _LOAD_FACTOR * buckets:
        buckets *= 2
    copied = _power_of_two(int(len(paths) / _LOAD_FACTOR + 1))
    hashes = {path: _spread_hash(path) for path in paths}
    # A bucket keeps the order in which it was filled: the copy's is that of the original's buckets.
    return sorted(paths, key=lambda path: (hashes[path] & (copied - 1), hashes[path] & (buckets - 1)))


def _spread_hash(text: str) -> int:
    """java.util.HashMap.hash of java.lang.String.hashCode; a znode's path has no surrogates."""
    total = 0
    for character in text:
        total = (total * 31 + ord(character)) & 0xFFFF_FFFF
    return total ^ total >> 16


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()
