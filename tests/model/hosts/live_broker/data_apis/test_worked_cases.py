"""Worked cases of old clients are answered as a real 3.9.1 answered them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from model.cluster.ids import TopicPartition
from model.hosts.wire.connection import Connection
from tests.harness.live_brokers import QUICK, Cluster
from tests.harness.worked_cases import CASES, OF_2_8, kept_answers
from tests.model.hosts.live_broker.data_apis.asking import connected


@dataclass
class Ours:
    """A broker in this process."""

    cluster: Cluster
    connection: Connection

    async def make(self, topic: str, **config: str) -> None:
        settings = {key.replace("_", "."): value for key, value in config.items()}
        self.cluster.nodes[1].replicas.apply_topic_config(topic, settings)
        await self.cluster.create(topic, (1,), (1,))

    async def make_with_dead_replicas(self, topic: str) -> None:
        (name,) = await self.cluster.create(topic, (1, 2, 3))
        await self.cluster.elect(name, 1, isr=(1,))

    async def ask(self, request: Any) -> Any:
        return await self.connection.ask(request)

    def segments(self, topic: str) -> Sequence[Path]:
        return sorted((self.cluster.nodes[1].folder / str(TopicPartition(topic, 0))).glob("*.log"))


@pytest.mark.parametrize("name", list(CASES))
async def test_the_answers_are_those_of_a_real_broker(cluster: Cluster, name: str) -> None:
    cluster.settings = {**QUICK, "inter.broker.protocol.version": "2.8" if name in OF_2_8 else "3.9"}
    await cluster.start(1)
    async with connected(cluster, 1) as connection:
        assert await CASES[name](Ours(cluster, connection)) == kept_answers()[name]
