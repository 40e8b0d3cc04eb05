"""The same random well-formed requests, of all APIs and versions in common, to a real broker of 3.9.1 and to ours.

Both are in the same state at first, and each request leaves them so. Answers are compared field by field; what may
differ is in OWN and UNLIKE, with its reason. KDRILL_RANDOM_REQUESTS=10000 sends so many.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pytest

from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import shaped, shapes, versions_known
from model.hosts.wire.names import WireError
from model.log.records import Codec
from tests.conformance.random_requests import PASSING, TOPICS, Requests, differences, placeholder, with_ids
from tests.conformance.test_old_answers import places, random_set  # noqa: F401 - the fixture

pytestmark = [pytest.mark.conformance, pytest.mark.timeout(3600)]

REQUESTS = int(os.environ.get("KDRILL_RANDOM_REQUESTS", "600"))
LEFT_OUT = {4, 5, 6, 7, 56, 67, 48, 49}
"""A controller's and brokers' own APIs: test_broker_answers, test_leader_answers and test_broker_decisions ask them.
Quotas: test_setting_answers."""
PATIENCE_S = 20.0
CLOSED = "closed"
READS = {1, 2, 3, 9, 10, 15, 16, 18, 23, 32, 35, 46, 60}
TOPICS_CHANGE = {19, 20, 37}
OWN = re.compile(
    r"\.(throttle_time|throttle_time_ms|cluster_id|port|host|error_message|message|topic_id|session_id|producer_id"
    r"|log_append_time|client_host|log_dir|total_bytes|usable_bytes|size|finalized_features_epoch)$"
)
"""Texts, places, sizes, times and ids that a broker has for itself."""
UNLIKE: Mapping[tuple[int, str], str] = {
    (18, r"^\.api_keys\[\]: "): "the sandbox has no transactions, logins, ACLs, quotas of users and telemetry",
    (
        0,
        "'corrupt_message', 'unknown_topic_or_partition'",
    ): "a real one looks at the checksum first, where there is one",
    (0, r"\.(log_start_offset|record_errors\[\]): "): "some refusals of a real one tell the log's start and the record",
    (1, r"\.(current_leader\.leader_(id|epoch)|node_endpoints\[\]): "): "no hints of a new leader are given (KIP-951)",
    (2, r"\.(timestamp|offset|leader_epoch): "): "the highest timestamp's record (-3), twice in 10,000: not found out",
    (8, "'unknown_member_id', 'illegal_generation'"): "of several mistakes another one is told first",
    (19, "'unknown_server_error', 'invalid_replica_assignment'"): "a real one fails at some assignments",
    (10, "'coordinator_not_available', 'invalid_request'"): "groups of other kinds than those of 3.x are not served",
    (19, r"configs\[\]: "): "settings are described by keys that have an effect here",
    (32, r"configs\[\]: |invalid_topic_exception|'invalid_request'"): "the same; and a name that no topic can have",
    (33, r"\.error_code: "): "of several mistakes another one is told first",
    (44, r"\.error_code: "): "of several mistakes another one is told first",
    (37, "'unknown_server_error', 'unknown_topic_or_partition'"): "a real one fails at names that no topic can have",
    (43, "'unknown_server_error', 'none'"): "a real one fails at kinds of elections that nobody knows",
    (9, "'unknown_server_error', 'unknown_topic_or_partition'"): "a real one asks ZooKeeper for a group without a name",
    (22, "'coordinator_load_in_progress', 'none'"): "a real one asks for producer ids when the first is wanted",
    (15, "'Empty', 'Dead'"): "a real one keeps a group that it made for offsets that it then refused",
    (16, r"^\.groups\[\]: "): "the same",
    (42, "'none', 'group_id_not_found'"): "the same",
    (47, "'none', 'group_id_not_found'"): "the same",
    (50, "'unknown_server_error', 'resource_not_found'"): "a real one fails at a user called `..`, which ends its path",
    (60, "mismatched_endpoint_type"): "asked for controllers, which are no endpoints of their own under ZooKeeper",
}
"""API, and a pattern of `path: theirs, ours` → why these may differ."""


class Side:
    """One of the two brokers; it may close a connection, and is then asked over another one."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.connection: Connection | None = None
        self.ids: dict[uuid.UUID, uuid.UUID] = {}

    async def ask(self, request: Any) -> Any:
        if self.connection is None or not self.connection.is_open:
            host, _, port = self._address.partition(":")
            self.connection = await Connection.open(host, int(port), "kdrill-test")
        try:
            answer = await self.connection.ask(with_ids(request, self.ids), timeout_s=PATIENCE_S)
        except WireError:
            return CLOSED
        return with_ids(answer, {actual: placeholder for placeholder, actual in self.ids.items()})

    async def learn_ids(self) -> None:
        await self.ask(shapes(18, 0, "request").ApiVersionsRequest())
        assert self.connection is not None
        module: Any = shapes(3, 12, "request")
        named = tuple(shaped(module.MetadataRequestTopic, topic_id=None, name=topic) for topic in TOPICS)
        request = shaped(
            module.MetadataRequest,
            topics=named,
            allow_auto_topic_creation=False,
            include_topic_authorized_operations=False,
        )
        answer = await self.connection.ask(request)
        self.ids = {placeholder(each.name): each.topic_id for each in answer.topics}

    async def known(self) -> list[tuple[object, ...]]:
        """Which of the topics that come and go it knows, with their partitions."""
        module: Any = shapes(3, 9, "request")
        named = tuple(shaped(module.MetadataRequestTopic, name=topic) for topic in PASSING)
        request = shaped(
            module.MetadataRequest,
            topics=named,
            allow_auto_topic_creation=False,
            include_cluster_authorized_operations=False,
            include_topic_authorized_operations=False,
        )
        answer = await self.ask(request)
        return (
            [] if answer is CLOSED else [(each.name, each.error_code, len(each.partitions)) for each in answer.topics]
        )


async def agree(theirs: Side, ours: Side) -> None:
    """Waits until both know the same topics: each broker learns of them a moment after its controller has made them."""
    deadline = time.monotonic() + PATIENCE_S
    while await theirs.known() != await ours.known() and time.monotonic() < deadline:
        await asyncio.sleep(0.02)


async def answers(theirs: Side, ours: Side, key: int, request: Any) -> tuple[Any, Any]:
    """What is only read is asked for again while a change is on its way."""
    asked = 0
    while True:
        told = await asyncio.gather(theirs.ask(request), ours.ask(request))
        asked += 1
        if key not in READS or asked == 4 or CLOSED in told or not any(unlike(key, *told)):
            return told[0], told[1]
        await asyncio.sleep(0.05)


def unlike(key: int, theirs: Any, ours: Any) -> Iterator[str]:
    """`path: theirs, ours`."""
    for path, one, other in differences(theirs, ours):
        line = f"{path}: {one!r}, {other!r}"
        if not OWN.search(path) and not any(key == each and re.search(pattern, line) for each, pattern in UNLIKE):
            yield line


async def test_random_requests_are_answered_alike(places: tuple[str, str]) -> None:  # noqa: F811
    theirs, ours = map(Side, places)
    await theirs.learn_ids()
    await ours.learn_ids()
    assert theirs.connection is not None and ours.connection is not None
    common = {
        key: range(max(lowest, versions_known(key)[0]), min(highest, versions_known(key)[1]) + 1)
        for key, (lowest, highest) in ours.connection.versions.items()
        if key in theirs.connection.versions and key not in LEFT_OUT
    }
    pairs = [(key, version) for key, versions in common.items() for version in versions]
    dice = random.Random(9)
    requests = Requests(dice, partial(random_set, codecs=(Codec.NONE,)))
    found: Counter[str] = Counter()
    examples: dict[str, Any] = {}
    for number in range(REQUESTS):
        key, version = pairs[number % len(pairs)] if number < len(pairs) else dice.choice(pairs)
        request = requests.draw(key, version)
        if key in TOPICS_CHANGE:
            await agree(theirs, ours)
        for each in unlike(key, *await answers(theirs, ours, key, request)):
            line = f"{type(request).__name__} {each}"
            found[line] += 1
            examples.setdefault(line, (version, request))
    told = [f"{count} {line}\n    {examples[line]}" for line, count in found.most_common()]
    assert not told, "\n".join([f"{len(told)} kinds", *told])
