"""A cluster's facts as texts that may be shown: numbers, brokers, places; secrets hidden, JSON safe for a terminal.

Which settings hold secrets is one rule for screens, snapshots and logs. It hides too much rather than too little,
knows settings by name only and looks into no payload. Places of KRaft are those of Kafka's metadata shell, as far as
brokers tell what is there (`model.sources.kafka.kafka_source`).
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from model.cluster.ids import KafkaGeneration

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


def controller_name(node: int, generation: str) -> str:
    """With ZooKeeper a broker, `b1`; on KRaft a node of the quorum, `c101`, which may be a broker as well."""
    return f"{'c' if generation == 'kraft' else 'b'}{node}"


def replicas(ids: Iterable[int]) -> str:
    """A replica list or ISR as Kafka's tools print it, `1,2,3`; `none` where empty."""
    return ",".join(str(broker) for broker in ids) or "none"


_PLACES: Final[Mapping[re.Pattern[str], str]] = {
    re.compile(pattern): place
    for pattern, place in {
        r"/brokers/ids/(\d+)": r"/brokers/\1/registration",
        r"/brokers/topics/([^/]+)": r"/topics/\1",
        r"/brokers/topics/([^/]+)/partitions": r"/topics/\1",
        r"/brokers/topics/([^/]+)/partitions/(\d+)(?:/state)?": r"/topics/\1/\2/data",
        r"/admin/delete_topics/([^/]+)": r"/topics/\1",
        r"/admin/(?:reassign_partitions|preferred_replica_election)": "/topics",
        r"/config/(.+)": r"/configs/\1",
        r"/controller(?:_epoch)?": "/metadataQuorum/leader",
        r"/cluster/id": "/clusterId",
    }.items()
}


def metadata_place(path: str) -> str:
    """Where KRaft has what ZooKeeper has in this znode; what is no path of ZooKeeper's stays as it is."""
    return next((found.expand(place) for pattern, place in _PLACES.items() if (found := pattern.fullmatch(path))), path)


def kept_in(generation: KafkaGeneration, znode: str) -> tuple[str, str]:
    """What a place is called where it is shown, and the place."""
    return ("metadata", metadata_place(znode)) if generation == "kraft" else ("znode", znode)


def written_at(generation: KafkaGeneration, number: int) -> tuple[str, str]:
    """What tells a write apart from all others: what it is called, and it; of KRaft the metadata log's offset."""
    if generation == "kraft":
        return "offset", f"{number:,}" if number >= 0 else "unknown"
    return "zxid", f"{number:#x}" if number >= 0 else "unknown"


HIDDEN = "[hidden]"
"""Stands for a secret wherever it would be shown, logged or saved."""

_HINTS = (
    "password", "passwd", "passphrase", "secret", "credential", "jaas", "scram-", "salt=", "hmac", "master.key",
    "keystore.key", "certificate.chain", "truststore.certificates", "private", "api.key", "apikey", "auth.user.info",
    "token", "pwd", "access.key", "accesskey", "signing.key", "encryption.key",
)  # fmt: skip
_NO_SECRETS = frozenset({"tokenId", "tokenRequester"})
_USER_QUOTAS = frozenset({"producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate"})


def is_sensitive_name(name: str) -> bool:
    """Whether a setting or JSON key of this name may hold a secret.

    Kafka's settings of type PASSWORD (3.9 `SslConfigs`, `SaslConfigs`, `PasswordEncoderConfigs`), and whatever looks
    like one: plug-ins bring names of their own.
    """
    lowered = name.lower()
    return name not in _NO_SECRETS and any(hint in lowered for hint in _HINTS)


def is_sensitive(entity: str, key: str) -> bool:
    """Whether this setting of this entity may hold a secret; entity as in Kafka's entity path, `users/u/clients/c`.

    A user has quotas and credentials only, so whatever is no quota is hidden.
    """
    return key not in _USER_QUOTAS if entity.startswith("users/") else is_sensitive_name(key)


def redacted(entity: str, config: Mapping[str, str]) -> dict[str, str]:
    """The settings of an entity, secret values replaced."""
    return {key: HIDDEN if is_sensitive(entity, key) else value for key, value in config.items()}


_PLAIN = re.compile(rb"[\x20-\x7e\n]*")
_UNCERTAIN = re.compile(r"[^\x20-\x7e\n]")


def visible_json(document: bytes) -> bytes:
    """The same values: controls, bidirectional and invisible characters are written as escapes; letters stay."""
    if _PLAIN.fullmatch(document):
        return document
    return _UNCERTAIN.sub(lambda found: _escaped(found[0]), document.decode()).encode()


def _escaped(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]
