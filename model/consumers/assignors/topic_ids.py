"""Ids of topics, as far as the order of their hashes decides what the group coordinator assigns.

Source: `org.apache.kafka.common.Uuid`, `UniformHomogeneousAssignmentBuilder`, `UniformHeterogeneousAssignmentBuilder`
(3.9).
"""

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from model.consumers.assignors.group import AssignorError, Ints
from model.consumers.assignors.java_hashing import Hashes, copied_table, walk


def topic_id_hashes(topics: Sequence[str], ids: Mapping[str, str]) -> Hashes:
    """uint32[T]: `Uuid.hashCode` of each topic's id; a topic without one gets an id made from its name."""
    return np.array([_hash(_id_of(topic, ids.get(topic))) for topic in topics], dtype=np.uint32)


def _id_of(topic: str, written: str | None) -> bytes:
    if written is None:
        digest = bytearray(hashlib.md5(topic.encode(), usedforsecurity=False).digest())
        digest[6] = digest[6] & 0x0F | 0x30
        digest[8] = digest[8] & 0x3F | 0x80
        return bytes(digest)
    try:
        plain = base64.urlsafe_b64decode(written + "=" * (-len(written) % 4))
    except (binascii.Error, ValueError):
        plain = b""
    if len(plain) != 16:
        raise AssignorError(f"topic id {written!r} of {topic} is not a base64 UUID of 22 characters")
    return plain


def _hash(plain: bytes) -> int:
    folded = int.from_bytes(plain[:8]) ^ int.from_bytes(plain[8:])
    return (folded >> 32) ^ (folded & 0xFFFFFFFF)


def topic_walk(lists: Sequence[Sequence[str]], numbers: Mapping[str, int], hashes: Hashes, *, alike: bool) -> Ints:
    """intp[T]: topics as the uniform assignor's set of their ids is walked; `lists` are in the order of members.

    Where all subscriptions are equal that set is a copy of the first member's, which has another table size.
    """
    if not lists:
        return np.zeros(0, dtype=np.intp)
    if alike:
        told = _walked(_numbers(lists[0], numbers), hashes)
        return told[walk(hashes[told], copied_table(len(told)))]
    met = dict.fromkeys(number for named in lists for number in _walked(_numbers(named, numbers), hashes).tolist())
    return _walked(np.fromiter(met, dtype=np.intp, count=len(met)), hashes)


def _numbers(named: Sequence[str], numbers: Mapping[str, int]) -> Ints:
    distinct = dict.fromkeys(named)
    return np.fromiter((numbers[topic] for topic in distinct), dtype=np.intp, count=len(distinct))


def _walked(topics: Ints, hashes: Hashes) -> Ints:
    return topics[walk(hashes[topics])]
