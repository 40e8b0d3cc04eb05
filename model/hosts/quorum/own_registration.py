"""A controller tells the active one that it is there, where it listens and which features it knows (KIP-919).

No feature is raised before all voters have. Who is told may be the controller itself, and is asked like any other.
Source: `kafka.server.ControllerRegistrationManager` (3.9).
"""

import asyncio
import logging
import time
import uuid
from collections.abc import Mapping
from typing import Any, Final

from model.hosts.quorum.committed_log import CommittedLog
from model.hosts.quorum.quorum_voter import QuorumVoter
from model.hosts.quorum.raft_requests import LISTENER
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity
from model.hosts.wire.names import SECURITY_PROTOCOLS, ApiKey, WireError, error_name, topic_id_text
from model.observer.messages import Address

REGISTERED_SINCE: Final = 15
"""The metadata.version, 3.7-IV0."""
LOOK_S, PATIENCE_S = 0.5, 2.0
_LOGGER = logging.getLogger(__name__)


class OwnRegistration:
    """Of one life of a controller: `run` until it is cancelled. `features`: the least and the largest level of each."""

    def __init__(self, voter: QuorumVoter, log: CommittedLog, features: Mapping[str, tuple[int, int]]) -> None:
        self._voter = voter
        self._log = log
        self._features = features
        self._incarnation = uuid.uuid4()
        self._not_before_s = 0.0

    async def run(self) -> None:
        while True:
            if self._is_due() and (leader := self._voter.node.leader_address) is not None:
                await self._tell(leader)
            await asyncio.sleep(LOOK_S)

    def _is_due(self) -> bool:
        """Whether the log does not have it, and has had time for it."""
        records = self._log.records
        if records.level < REGISTERED_SINCE or time.monotonic() < self._not_before_s:
            return False
        told = records.controller(self._voter.node_id)
        return told is None or told["incarnationId"] != topic_id_text(self._incarnation)

    async def _tell(self, leader: Address) -> None:
        try:
            connection = await Connection.open(*leader, f"controller-{self._voter.node_id}", PATIENCE_S)
            try:
                answer: Any = await connection.ask(self._request(connection), PATIENCE_S)
            finally:
                await connection.close()
        except WireError as failure:
            _LOGGER.debug("not registered yet: %s", failure)
            return
        if (error := error_name(answer.error_code)) == "NONE":
            self._not_before_s = time.monotonic() + PATIENCE_S
        else:
            _LOGGER.debug("not registered yet: %s", error)

    def _request(self, connection: Connection) -> Entity:
        shapes = connection.request_shapes(ApiKey.CONTROLLER_REGISTRATION)
        host, port = self._voter.node.me.address or ("", 0)
        return shapes.ControllerRegistrationRequest(
            controller_id=self._voter.node_id,
            incarnation_id=self._incarnation,
            zk_migration_ready=False,
            listeners=(
                shapes.Listener(name=LISTENER, host=host, port=port, security_protocol=SECURITY_PROTOCOLS["PLAINTEXT"]),
            ),
            features=tuple(
                shapes.Feature(name=name, min_supported_version=least, max_supported_version=most)
                for name, (least, most) in self._features.items()
            ),
        )
