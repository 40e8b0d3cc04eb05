"""Ids for topics that have none, drawn from the controller's seed instead of dice. It writes them nowhere.

Source: `KafkaController.processTopicIds`, `org.apache.kafka.common.Uuid.randomUuid` (3.9); KIP-516 (2.8). A cluster
that was upgraded has topics without ids, and old tools go on creating such topics.
"""

from base64 import urlsafe_b64encode
from hashlib import blake2b
from itertools import count
from uuid import UUID


def new_topic_id(seed: bytes, now_ms: int, topic: str) -> str:
    """22 characters of base64url: the same for the same arguments, and never one that starts like an option (`-`)."""
    for attempt in count():
        drawn = blake2b(f"{now_ms}\n{attempt}\n{topic}".encode(), key=seed[:64], digest_size=16).digest()
        text = urlsafe_b64encode(UUID(bytes=drawn, version=4).bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text
    raise AssertionError("unreachable")
