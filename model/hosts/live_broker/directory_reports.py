"""Where the replicas of a broker in KRaft mode lie, told to the controllers (KIP-858).

Which log dir a new replica is in the broker chooses where it has several; the metadata log then names none. A replica
that lies elsewhere than the log says is reported. Source: `org.apache.kafka.server.AssignmentsManager` (3.9).
"""

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

from model.broker.metadata_log import LoggedCluster
from model.cluster.ids import METADATA_VERSION, TopicPartition
from model.cluster.image_parts import directory_number
from model.hosts.live_broker.parts import AskController
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity
from model.hosts.wire.names import ApiKey, WireError, error_name, topic_id_text, topic_uuid
from model.kraft_controller.partition_change import DIRECTORIES_SINCE

MOST_AT_ONCE: Final = 2_250
"""Replicas of one request."""
PAUSE_S, LONGEST_PAUSE_S = 0.1, 10.0
"""Before each request, for others may follow; twice as long after each failure."""
LOOK_S: Final = 1.0
"""How often it is looked whether a replica was moved."""
_LOGGER = logging.getLogger(__name__)
Places = Callable[[], Mapping[TopicPartition, Path]]
Assignment = tuple[uuid.UUID, uuid.UUID]
"""Id of the topic, and of the directory."""


class DirectoryReports:
    """For one event loop; `run` until it is cancelled. `ids` are those of the log dirs, known before it runs."""

    def __init__(self, ask: AskController, places: Places, cluster: Callable[[], LoggedCluster]) -> None:
        self.ids: Mapping[Path, uuid.UUID] = {}
        self.broker, self.broker_epoch = -1, -1
        self._ask = ask
        self._places = places
        self._cluster = cluster
        self._told: dict[TopicPartition, Assignment] = {}
        """What was answered; the log says it a little later."""
        self._news = asyncio.Event()

    def look(self) -> None:
        """Something may have changed."""
        self._news.set()

    async def run(self) -> None:
        pause_s = PAUSE_S
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._news.wait()
            self._news.clear()
            await asyncio.sleep(pause_s)
            if not (wanted := self.wanted()):
                continue
            error = await self._report(wanted)
            if error:
                _LOGGER.warning("where replicas lie is not taken: %s", error)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            else:
                pause_s = PAUSE_S
                self._told.update(wanted)
            self._news.set()

    def wanted(self) -> dict[TopicPartition, Assignment]:
        """What is to be told, as much as fits one request."""
        cluster, places = self._cluster(), self._places()
        if cluster.features.get(METADATA_VERSION, 0) < DIRECTORIES_SINCE:
            return {}
        self._told = {name: told for name, told in self._told.items() if name in places}
        differing = (
            (name, (topic_uuid(cluster.image.topic_ids.get(name.topic)), self.ids[path]))
            for name, path in places.items()
            if path in self.ids and _lies_elsewhere(cluster.placed.get(name), self.ids[path])
        )
        return dict(islice((each for each in differing if self._told.get(each[0]) != each[1]), MOST_AT_ONCE))

    async def _report(self, wanted: Mapping[TopicPartition, Assignment]) -> str:
        """Why it was refused as a whole, empty if not. A partition that is refused is not this broker's any more."""
        try:
            answer = await self._ask(lambda connection: self._request(connection, wanted))
        except WireError as failure:
            return str(failure)
        error = error_name(answer.error_code)
        return "" if error == "NONE" else error

    def _request(self, connection: Connection, wanted: Mapping[TopicPartition, Assignment]) -> Entity:
        shapes: Any = connection.request_shapes(ApiKey.ASSIGN_REPLICAS_TO_DIRS)
        by_dir: dict[uuid.UUID, dict[uuid.UUID, list[int]]] = {}
        for name, (topic, directory) in wanted.items():
            by_dir.setdefault(directory, {}).setdefault(topic, []).append(name.partition)
        directories = tuple(
            shapes.DirectoryData(
                id_=directory,
                topics=tuple(
                    shapes.TopicData(
                        topic_id=topic,
                        partitions=tuple(shapes.PartitionData(partition_index=number) for number in numbers),
                    )
                    for topic, numbers in topics.items()
                ),
            )
            for directory, topics in by_dir.items()
        )
        return shapes.AssignReplicasToDirsRequest(
            broker_id=self.broker, broker_epoch=self.broker_epoch, directories=directories
        )


def _lies_elsewhere(recorded: int | None, directory: uuid.UUID) -> bool:
    return recorded is not None and recorded != directory_number(topic_id_text(directory) or "")
