"""In which order Scala's hash collections come: Kafka's controller goes by it when several brokers die at once.

Each dead broker in turn is taken out of the ISRs, and the last one stays where nobody else is left: the order decides
who may lead that partition again. Which release goes by which order is in `generations`.

Sources: `ReplicaStateMachine.handleStateChanges` (0.8.0 to 3.9); scala-library's `immutable.HashMap` and `HashSet`,
`mutable.HashTable`, `TraversableLike.groupBy`, `util.hashing` and `runtime.Statics` of 2.10.7, 2.11.12 and 2.12.10,
`immutable.HashMap` and `IterableOps.groupBy` of 2.13.14. Where Kafka goes over a hash elsewhere, the elements do not
touch each other, and only the order of writes or requests differs. Not followed: brokers of 2.3 to 2.5 that share a
bucket while a new controller starts; there, the smaller id is taken to be seen first.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from model.cluster.ids import TopicPartition
from model.controller.state_machines import PartitionAndReplica

Copies = Sequence[PartitionAndReplica]
Ordering = Callable[[Copies], Copies]
Turn = tuple[int, tuple[TopicPartition, ...]]
"""A broker, and partitions of which its copies move together."""
Turns = Callable[[Copies], Iterator[Turn]]

_ALL = 0xFFFFFFFF
_SMALL = 4
"""Sets and maps up to this size keep the order in which they were filled."""
_DIGIT_BITS, _DIGITS = 5, 7
"""A node of a trie has 32 places; seven levels use up a hash of 32 bits."""
_BUCKET_BITS = 4
"""A mutable map begins with 16 buckets, and has them up to twelve elements."""
_GOLDEN = 0x9E3775CD
"""The factor of `hashing.byteswap32`."""


def as_given(copies: Copies) -> Copies:
    """Copies that come in whatever order, for it does not matter (2.6 and later)."""
    return copies


def in_set(copies: Copies) -> Copies:
    """Copies as a Set of PartitionAndReplica(topicPartition, replica) has them, filled broker by broker (1.1 to 2.5).

    Brokers come in ascending order.
    """
    return _in_set(copies, _hash_of_copy)


def in_set_of_triples(copies: Copies) -> Copies:
    """The same for PartitionAndReplica(topic, partition, replica), as it was up to 1.0."""
    return _in_set(copies, _hash_of_triple)


def one_by_one(copies: Copies) -> Iterator[Turn]:
    """Each copy by itself, in this order (0.8.0 to 1.0).

    Partitions do not touch each other: first all the first copies move, then all the second ones.
    """
    rounds: list[dict[int, list[TopicPartition]]] = []
    seen: dict[TopicPartition, int] = {}
    for name, broker in copies:
        place = seen[name] = seen.get(name, -1) + 1
        if place == len(rounds):
            rounds.append({})
        rounds[place].setdefault(broker, []).append(name)
    for moves in rounds:
        for broker, names in sorted(moves.items()):
            yield broker, tuple(names)


def grouped_before_2_13(copies: Copies) -> Iterator[Turn]:
    """Broker by broker, as `groupBy` of Scala 2.10 to 2.12.10 has them (Kafka 1.1 to 2.5).

    It fills an immutable map from a mutable one: four brokers at most keep the order of the latter.
    """
    by_broker = _by_broker(copies)
    order = _in_buckets(by_broker) if len(by_broker) <= _SMALL else sorted(by_broker, key=_place_in_trie)
    return _turns(by_broker, order)


def grouped(copies: Copies) -> Iterator[Turn]:
    """Broker by broker, as `groupBy` of Scala 2.13 has them (Kafka 2.6 and later, as it is offered for download)."""
    by_broker = _by_broker(copies)
    hashed = [(_improved(broker & _ALL), broker) for broker in by_broker]
    return _turns(by_broker, _in_champ(hashed))


def _turns(by_broker: dict[int, list[TopicPartition]], order: Iterable[int]) -> Iterator[Turn]:
    for broker in order:
        yield broker, tuple(by_broker[broker])


def _by_broker(copies: Copies) -> dict[int, list[TopicPartition]]:
    found: dict[int, list[TopicPartition]] = {}
    for name, broker in copies:
        found.setdefault(broker, []).append(name)
    return found


def _in_set(copies: Copies, hash_of: Callable[[PartitionAndReplica], int]) -> Copies:
    if len({broker for _, broker in copies}) < 2:  # whatever the order, nothing depends on it
        return copies
    ascending = sorted(copies, key=lambda copy: copy.replica)
    return ascending if len(copies) <= _SMALL else sorted(ascending, key=lambda copy: _place_in_trie(hash_of(copy)))


def _place_in_trie(hash_code: int) -> int:
    """A number that grows as `HashTrieSet` and `HashTrieMap` go on: the lowest five bits count most."""
    improved, place = _improved(hash_code & _ALL), 0
    for _ in range(_DIGITS):
        place = place << _DIGIT_BITS | improved & 31
        improved >>= _DIGIT_BITS
    return place


def _in_champ(hashed: list[tuple[int, int]]) -> Iterator[int]:
    """Each node has its own elements first, then what is below it."""
    nodes: dict[int, list[tuple[int, int]]] = {}
    for rest, broker in hashed:
        nodes.setdefault(rest & 31, []).append((rest >> _DIGIT_BITS, broker))
    for _, below in sorted(nodes.items()):
        if len(below) == 1:
            yield below[0][1]
    for _, below in sorted(nodes.items()):
        if len(below) > 1:
            yield from _in_champ(below)


def _in_buckets(brokers: Iterable[int]) -> list[int]:
    """From the last bucket to the first; in a bucket, what came last is first."""
    return sorted(brokers, key=_bucket_of)[::-1]


def _bucket_of(broker: int) -> int:
    """`HashTable.index`, with `hashing.byteswap32`."""
    swapped = (broker & _ALL) * _GOLDEN & _ALL
    swapped = int.from_bytes(swapped.to_bytes(4, "little"), "big") * _GOLDEN & _ALL
    return _rotated(swapped, 32 - _BUCKET_BITS) >> 32 - _BUCKET_BITS


def _improved(hash_code: int) -> int:
    """`Hashing.improve`, of unsigned numbers of 32 bits."""
    mixed = hash_code + ~(hash_code << 9) & _ALL
    mixed ^= mixed >> 14
    mixed = mixed + (mixed << 4) & _ALL
    return mixed ^ mixed >> 10


def _hash_of_copy(copy: PartitionAndReplica) -> int:
    topic, partition = copy.partition
    return _hash_of_product(31 * (31 + partition) + _hash_of_text(topic), copy.replica)


def _hash_of_triple(copy: PartitionAndReplica) -> int:
    topic, partition = copy.partition
    return _hash_of_product(_hash_of_text(topic), partition, copy.replica)


def _hash_of_text(text: str) -> int:
    """`java.lang.String.hashCode`; names of topics are ASCII."""
    found = 0
    for letter in text.encode("ascii", "replace"):
        found = found * 31 + letter & _ALL
    return found


def _hash_of_product(*fields: int) -> int:
    """A case class with these hashes of fields: MurmurHash3 of 32 bits, before 2.13."""
    mixed = 0xCAFEBABE
    for field in fields:
        scrambled = _rotated((field & _ALL) * 0xCC9E2D51 & _ALL, 15) * 0x1B873593 & _ALL
        mixed = _rotated(mixed ^ scrambled, 13) * 5 + 0xE6546B64 & _ALL
    mixed ^= len(fields)
    mixed = (mixed ^ mixed >> 16) * 0x85EBCA6B & _ALL
    mixed = (mixed ^ mixed >> 13) * 0xC2B2AE35 & _ALL
    return mixed ^ mixed >> 16


def _rotated(number: int, bits: int) -> int:
    """Rotated to the left, in 32 bits."""
    return (number << bits | number >> 32 - bits) & _ALL
