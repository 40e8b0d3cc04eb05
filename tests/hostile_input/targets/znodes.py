"""Znode payloads and names of every kind: decoded, shown, explained, and made part of a cluster's image."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from random import Random

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance
from model.sources.zookeeper.translate import translate
from model.znodes.catalogue import CATALOGUE
from model.znodes.codec import decode, encode, payload_version
from model.znodes.history import difference_text, differences
from model.znodes.paths import recognise
from model.znodes.payload import Unreadable
from model.zookeeper import Stat, Znode
from tests.hostile_input.broken_bytes import broken
from tests.hostile_input.broken_json import broken_json, hostile_value
from tests.hostile_input.hostile_values import NUMBERS, TEXTS
from tests.hostile_input.looked_at import NOW_MS, look_at
from tests.hostile_input.shown import check_error, check_lines, check_shown
from tests.hostile_input.target import Target
from tui.engine.cluster.znode_texts import znode_detail
from tui.engine.text import plain

DATA = Path(__file__).parents[2] / "data" / "znodes"
_STAT = Stat(9, 9, NOW_MS, NOW_MS, 1, 0, 0, 0, 0, 0, 9)


@cache
def examples() -> dict[str, list[tuple[str, bytes]]]:
    """What real Kafka wrote, by kind; and an empty znode of each kind that it did not write."""
    found: dict[str, list[tuple[str, bytes]]] = {}
    for file in ("kafka-3.9.1.json", "kafka-1.1.1-with-old-consumers.json", "kafka-3.9.1-encoders.json"):
        for row in _rows(json.loads((DATA / file).read_text())):
            found.setdefault(str(recognise(row[0]).kind), []).append(row)
    for row in CATALOGUE:
        names = dict.fromkeys(("topic", "group", "consumer_id", "user", "client", "entity", "resource_type"), "x")
        numbers = dict.fromkeys(("partition", "broker_id", "sequence"), "1")
        path = row.pattern.format(**names, **numbers, resource="r", pattern_type="prefixed", token_id="t")
        found.setdefault(str(row.kind), []).append((path, b"{}"))
    return found


def _rows(document: list[dict[str, str]]) -> list[tuple[str, bytes]]:
    return [(row["path"], row["data"].encode()) for row in document if row.get("data") and "path" in row]


@cache
def captured() -> ClusterImage:
    """The cluster that the captures are of."""
    every = [Znode(path, data, _STAT) for rows in examples().values() for path, data in rows if data != b"{}"]
    return _image(EMPTY, every)


def _image(base: ClusterImage, znodes: list[Znode]) -> ClusterImage:
    delta = ClusterDelta(base)
    delta.replay_all(tuple(translate(znodes, NOW_MS, listing=False)))
    return delta.apply(Provenance("hostile", 10, NOW_MS, complete=True))


def make(random: Random) -> bytes:
    """A path, NUL, and what is there."""
    path, data = random.choice(random.choice(list(examples().values())))
    match random.randrange(10):
        case 0:
            data = hostile_value(random).encode("utf-8", "surrogatepass")
        case 1 | 2:
            data = broken(random, data)
        case 3:
            data = random.choice(NUMBERS).encode()
        case _:
            data = broken_json(random, [data]) if data[:1] in b"{[" else broken(random, data)
    if random.random() < 0.2:
        segments = path.split("/")
        segments[random.randrange(len(segments))] = random.choice((*TEXTS, *NUMBERS)).replace("\0", "").replace("/", "")
        path = "/".join(segments)
    return path.encode("utf-8", "surrogatepass") + b"\0" + data


def judge(case: bytes, _folder: Path) -> None:
    """Decoding never raises, whatever is decoded can be written again, and all of it can be shown."""
    name, _, data = case.partition(b"\0")
    path = name.decode("utf-8", "replace")  # as kazoo hands names on
    payload = decode(path, data)
    payload_version(payload)
    if isinstance(payload, Unreadable):
        check_error(payload.reason)
    elif payload is not None:
        again = decode(path, encode(payload))
        assert again == payload or data == b"", f"{payload!r} comes back as {again!r}"
    znode = Znode(path, data, _STAT)
    for view in ("", "raw"):
        answer = znode_detail(path, znode, view, {})
        check_lines(answer.lines)
    for difference in differences(data, b"{}"):
        check_shown(plain(difference_text(difference)))
    look_at(_image(EMPTY, [znode]))
    look_at(_image(captured(), [znode]), captured(), whole=len(case) % 8 == 0)


TARGET = Target("znodes", make, judge)
