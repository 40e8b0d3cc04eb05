"""What clients ask of the controller, sent on to it in KRaft mode: any broker takes it. And topics that brokers want.

Source: `kafka.server.ForwardingManager`, `EnvelopeUtils`, `DefaultAutoTopicCreationManager`, `ConfigAdminManager.
preprocess` (3.9); KIP-590 (envelopes).
"""

import asyncio
import dataclasses
import logging
import socket
import time
import uuid
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final, cast

from kio.schema.errors import ErrorCode

from model.broker.settings.keys import DEFAULT_REPLICATION_FACTOR, NUM_PARTITIONS
from model.broker.settings.settings import Settings
from model.controller import KafkaError, Refusal
from model.controller.topic_validation import BROKER_DEFAULT
from model.hosts.live_broker.apis.configs import BROKER_LOGGER
from model.hosts.live_broker.apis.topic_requests import PlannedReplicas, WantedTopic
from model.hosts.live_broker.parts import AskController
from model.hosts.wire.connection import Connection
from model.hosts.wire.error_responses import error_response
from model.hosts.wire.messages import Encoded, Entity, decode_response, encode, encode_request, name_of, shaped
from model.hosts.wire.names import ZERO_ID, ApiKey, UnavailableError, WireError, error_name
from model.hosts.wire.server import Answers, Api, Request

PATIENCE_S, PAUSE_S = 20.0, 0.1
"""Until there is a controller, and between two attempts."""
FORWARDED: Final[Mapping[int, tuple[int, int]]] = {
    ApiKey.CREATE_TOPICS: (2, 7),
    ApiKey.DELETE_TOPICS: (1, 6),
    ApiKey.ALTER_CONFIGS: (0, 2),
    ApiKey.CREATE_PARTITIONS: (0, 3),
    ApiKey.ELECT_LEADERS: (0, 2),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: (0, 1),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: (0, 0),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: (0, 0),
    ApiKey.ALTER_CLIENT_QUOTAS: (0, 1),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: (0, 0),
    ApiKey.UPDATE_FEATURES: (0, 1),
    ApiKey.UNREGISTER_BROKER: (0, 0),
    ApiKey.ADD_RAFT_VOTER: (0, 0),
    ApiKey.REMOVE_RAFT_VOTER: (0, 0),
}
"""By API key: the versions that controllers of 3.9 and 4.x know."""
_LOGGER = logging.getLogger(__name__)
ANONYMOUS: Final = b"\0\0\x05User\x0aANONYMOUS\0\0"
"""Who has not logged in, as `DefaultKafkaPrincipalBuilder` writes it."""


class ForwardedRequests:
    """`alter_loggers` answers what is asked of this process's own log levels."""

    def __init__(self, ask: AskController, alter_loggers: Answers, patience_s: float = PATIENCE_S) -> None:
        self._ask = ask
        self._alter_loggers = alter_loggers
        self._patience_s = patience_s

    @property
    def apis(self) -> Mapping[int, Api]:
        forwarded = {key: Api(*versions, self._forward) for key, versions in FORWARDED.items()}
        return {
            **forwarded,
            ApiKey.INCREMENTAL_ALTER_CONFIGS: Api(0, 1, self._alter_configs),
            ApiKey.DESCRIBE_QUORUM: Api(0, 2, self._describe_quorum),
        }

    async def _alter_configs(self, request: Request) -> Entity | None:
        """Log levels are altered here; all else is the controller's."""
        resources: Any = request.body.resources
        others = tuple(each for each in resources if each.resource_type != BROKER_LOGGER)
        if not others and resources:
            return await self._alter_loggers(request)
        if len(others) == len(resources):
            return await self._forward(request)
        start = request.start
        loggers = tuple(each for each in resources if each.resource_type == BROKER_LOGGER)
        of_controller, here = (
            Request(start, _frame(request, resources=some), request.peer, request.listener)
            for some in (others, loggers)
        )
        answers: list[Any] = [await self._forward(of_controller), await self._alter_loggers(here)]
        responses = tuple(each for answer in answers for each in answer.responses)
        return request.answer("IncrementalAlterConfigsResponse", responses=responses)

    async def _describe_quorum(self, request: Request) -> Entity:
        """As it came: it is no operator's request (`KafkaApis.handleDescribeQuorumRequest`)."""
        start = request.start
        asked = Encoded(start.api_key, start.version, encode(request.body))
        return await self._ask(lambda _: asked)

    async def _forward(self, request: Request) -> Entity:
        start, deadline_s = request.start, time.monotonic() + self._patience_s
        host = request.peer.rpartition(":")[0]

        def build(connection: Connection) -> Entity:
            return shaped(
                connection.request_shapes(ApiKey.ENVELOPE).EnvelopeRequest,
                request_data=request.frame,
                request_principal=ANONYMOUS,
                client_host_address=_address(host),
            )

        why = ""
        while time.monotonic() < deadline_s:
            try:
                answer = await self._ask(build)
            except UnavailableError as failure:
                why = str(failure)
            else:
                why = error_name(answer.error_code)
                if why == "NONE":
                    return decode_response(answer.response_data, start.api_key, start.version)[1]
                if why != "NOT_CONTROLLER":
                    return _refused(request, why)
            await asyncio.sleep(PAUSE_S)
        _LOGGER.warning("%s is not done: no controller answers: %s", name_of(start.api_key), why)
        return _failure(request, ErrorCode.request_timed_out)


def _refused(request: Request, why: str) -> Entity:
    """The client asks for the versions again where the controller does not know the one that it took."""
    what = name_of(request.start.api_key)
    if why == "UNSUPPORTED_VERSION":
        raise WireError(f"the controller does not know {what} v{request.start.version}")
    _LOGGER.warning("the controller refuses %s that was sent on to it: %s", what, why)
    return _failure(request, ErrorCode.unknown_server_error)


def _failure(request: Request, error: ErrorCode) -> Entity:
    answer = error_response(request.start, request.body, error)
    assert answer is not None, "no Produce is sent on"
    return answer


def _frame(request: Request, **changed: object) -> bytes:
    """The request with another body."""
    body: Any = dataclasses.replace(request.body, **changed)  # pyright: ignore[reportArgumentType]
    return b"".join(encode_request(body, request.start.correlation_id, request.client_id))


def _address(host: str) -> bytes:
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            return socket.inet_pton(family, host)
        except OSError:
            continue
    return bytes(4)


class ForwardedTopics:
    """Makes topics by asking the controller, with this broker's own defaults."""

    def __init__(self, ask: AskController, settings: Callable[[], Settings]) -> None:
        self._ask = ask
        self._settings = settings

    async def make(self, topic: WantedTopic, *, dry: bool) -> tuple[uuid.UUID, PlannedReplicas | Refusal]:
        """Nothing is known here of where the replicas are."""
        settings = self._settings()

        def build(connection: Connection) -> Entity:
            module: Any = connection.request_shapes(ApiKey.CREATE_TOPICS)
            wanted = shaped(
                module.CreatableTopic,
                name=topic.name,
                num_partitions=settings[NUM_PARTITIONS] if topic.partitions == BROKER_DEFAULT else topic.partitions,
                replication_factor=settings[DEFAULT_REPLICATION_FACTOR]
                if topic.replication_factor == BROKER_DEFAULT
                else topic.replication_factor,
                assignments=(),
                configs=tuple(
                    shaped(module.CreatableTopicConfig, name=name, value=value) for name, value in topic.configs.items()
                ),
            )
            return shaped(module.CreateTopicsRequest, topics=(wanted,), timeout=timedelta(seconds=5), validate_only=dry)

        try:
            answer = await self._ask(build)
        except WireError as error:
            return ZERO_ID, Refusal(cast(KafkaError, "LEADER_NOT_AVAILABLE"), str(error))  # who asks again may have it
        made = answer.topics[0]
        if made.error_code is not ErrorCode.none:
            error = cast(KafkaError, error_name(made.error_code))
            return ZERO_ID, Refusal(error, getattr(made, "error_message", None) or "")
        return getattr(made, "topic_id", None) or ZERO_ID, {}
