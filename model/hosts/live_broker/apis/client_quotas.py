"""Quotas of clients: obeyed, described and altered. DescribeClientQuotas and AlterClientQuotas: any broker answers.

A client that does more than it may is answered, told for how long it should wait, and its connection not read from for
that time (KIP-13, KIP-124, KIP-219). Whose quota holds and how long that is, is decided elsewhere. Nobody logs in here,
so all clients are of one user.

Source: `kafka.server.ClientQuotaManager`, `ClientRequestQuotaManager`, `KafkaApis.handleProduceRequest`,
`handleFetchRequest`, `ZkAdminManager.describeClientQuotas`, `alterClientQuotas` (3.9).
"""

import dataclasses
import logging
import re
import time
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from datetime import timedelta
from typing import Any

from kio.static.primitive import i32Timedelta

from model.broker.quotas import (
    OBEYED_QUOTAS,
    FilterPart,
    Quota,
    QuotaMeter,
    altered_quotas,
    entity_at,
    entity_path,
    filter_problem,
    is_meant,
    quota_of,
    quotas_in,
)
from model.broker.settings.keys import QUOTA_WINDOW_NUM, QUOTA_WINDOW_SIZE_SECONDS
from model.broker.settings.settings import Settings
from model.controller import Refusal
from model.hosts.live_broker.apis.config_stores import Config, ConfigStore
from model.hosts.wire.messages import Entity, encode
from model.hosts.wire.names import ApiKey, error_code
from model.hosts.wire.server import Answers, Api, Request
from model.znodes.configs import DEFAULT_ENTITY, desanitise, sanitise

ANONYMOUS = "ANONYMOUS"
"""`KafkaPrincipal.ANONYMOUS`: who has not logged in."""
MOST_METERS = 10_000
"""Clients call themselves what they like: beyond so many, who was measured first is forgotten."""
LONGEST_MS = 2**31 - 1
"""What an answer can tell: of a quota of 0 nothing is ever to be had again."""
_EXEMPT = frozenset(
    {
        ApiKey.LEADER_AND_ISR,
        ApiKey.STOP_REPLICA,
        ApiKey.UPDATE_METADATA,
        ApiKey.CONTROLLED_SHUTDOWN,
        ApiKey.ALTER_PARTITION,
        ApiKey.ALLOCATE_PRODUCER_IDS,
    }
)
"""What brokers ask of each other has no quota."""
_LOGGER = logging.getLogger(__name__)


class ClientQuotas:
    """For all listeners of a broker. Meters are of the clients that share a quota, by its key, user and client id."""

    def __init__(self, settings: Settings, now_ms: Callable[[], int]) -> None:
        self._num = settings[QUOTA_WINDOW_NUM]
        self._size_ms = 1_000 * settings[QUOTA_WINDOW_SIZE_SECONDS]
        self._now_ms = now_ms
        self._quotas: dict[tuple[str | None, str | None], Mapping[str, float]] = {}
        self._meters: dict[tuple[str, str, str], QuotaMeter] = {}

    def learn(self, entity: str, config: Config) -> None:
        """What ZooKeeper says of an entity (its path below `/config`) from now on."""
        parts, quotas = entity_at(entity, desanitise), quotas_in(config)
        for key in sorted(quotas.keys() - OBEYED_QUOTAS):
            _LOGGER.warning("quota of %s: %s is kept and has no effect here", entity, key)
        name = parts.get("user"), parts.get("client-id")
        self._quotas.pop(name, None)
        if quotas:
            self._quotas[name] = quotas

    def answer(self, request: Request, answer: Answers) -> Awaitable[Entity | None]:
        """The answer, with the time that the client is to wait; `request.mute_ms` has it for who sends."""
        if not self._quotas or request.start.api_key in _EXEMPT:
            return answer(request)
        return self._measured(request, answer)

    async def _measured(self, request: Request, answer: Answers) -> Entity | None:
        answered = await _Timed(answer(request), request)
        if request.start.api_key != ApiKey.FETCH:
            request.mute_ms = self._wait_ms(request, has_answer=answered is not None)
        if answered is None or request.mute_ms == 0 or not hasattr(answered, "throttle_time"):
            return answered
        wait = i32Timedelta.parse(timedelta(milliseconds=request.mute_ms))
        return dataclasses.replace(answered, throttle_time=wait)

    def _wait_ms(self, request: Request, *, has_answer: bool) -> int:
        wait_ms = 0
        if request.start.api_key == ApiKey.PRODUCE:
            wait_ms = self._record(request, "producer_byte_rate", len(request.frame))
        return max(wait_ms, self._of_time(request)) if has_answer else wait_ms

    def _of_time(self, request: Request) -> int:
        return min(self._record(request, "request_percentage", request.spent_ns / 10**7), self._size_ms)

    def fetched(self, request: Request, response: Entity) -> bool:
        """Whether a consumer may have this answer now; if not, `request.mute_ms` says how long it has to wait."""
        if not self._quotas:
            return True
        size = len(encode(response)) if self._quota("consumer_byte_rate", request) else 0
        wait_ms = self._record(request, "consumer_byte_rate", size)
        request.mute_ms = max(wait_ms, self._of_time(request))
        if request.mute_ms:
            self._record(request, "consumer_byte_rate", -size)  # it gets nothing of it
        return request.mute_ms == 0

    def most_bytes(self, request: Request) -> int | None:
        """What one fetch of a consumer may have: what its quota has in all windows. None: no bound."""
        quota = self._quota("consumer_byte_rate", request)
        return None if quota is None else int(quota.bound * (self._num - 1) * self._size_ms / 1_000)

    def _quota(self, key: str, request: Request) -> Quota | None:
        return quota_of(self._quotas, key, ANONYMOUS, request.client_id) if self._quotas else None

    def _record(self, request: Request, key: str, value: float) -> int:
        """Count it; how long the client has to wait, in ms."""
        quota = self._quota(key, request)
        if quota is None:
            return 0
        name, now_ms = (key, quota.user, quota.client), self._now_ms()
        before = self._meters.get(name) or QuotaMeter(self._num, self._size_ms)
        meter = self._meters[name] = before.recorded(value, now_ms).purged(now_ms)
        while len(self._meters) > MOST_METERS:
            del self._meters[next(iter(self._meters))]
        return min(meter.throttle_ms(quota.bound, now_ms), LONGEST_MS)


class _Timed:
    """Awaits, and adds the time in which it did not wait to `request.spent_ns`."""

    def __init__(self, answer: Awaitable[Entity | None], request: Request) -> None:
        self._answer = answer
        self._request = request

    def __await__(self) -> Generator[Any, Any, Entity | None]:
        steps = self._answer.__await__()
        result: Any = None
        failure: BaseException | None = None
        while True:
            began_ns = time.perf_counter_ns()
            try:
                waited_for = steps.send(result) if failure is None else steps.throw(failure)
            except StopIteration as done:
                return done.value
            finally:
                self._request.spent_ns += time.perf_counter_ns() - began_ns
            result = failure = None
            try:
                result = yield waited_for
            except BaseException as error:  # passed on to who waits within
                failure = error


MECHANISMS = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
"""`org.apache.kafka.clients.admin.ScramMechanism`."""
_ITERATIONS = re.compile(r"(?:^|,)iterations=(\d{1,9})(?:,|$)")


class QuotaRequests:
    """What is set; also which users have passwords there, for tools that tell both at once."""

    def __init__(self, store: ConfigStore) -> None:
        self._store = store

    @property
    def apis(self) -> Mapping[int, Api]:
        return {
            ApiKey.DESCRIBE_CLIENT_QUOTAS: Api(0, 1, self._describe),
            ApiKey.ALTER_CLIENT_QUOTAS: Api(0, 1, self._alter),
            ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: Api(0, 0, self._describe_credentials),
        }

    async def _describe(self, request: Request) -> Entity:
        parts = [FilterPart(each.entity_type, each.match_type, each.match) for each in request.body.components]
        problem = filter_problem(parts)
        if problem is not None:
            error, message = problem
            return request.answer(
                "DescribeClientQuotasResponse", error_code=error_code(error), error_message=message, entries=None
            )
        entries: list[Entity] = []
        for path in await self._paths():
            entity = entity_at(path, desanitise)
            quotas = quotas_in(await self._store.read(path))
            if quotas and is_meant(entity, parts, strict=request.body.strict):
                entries.append(_entry(request, entity, quotas))
        return request.answer(
            "DescribeClientQuotasResponse", error_code=error_code("NONE"), error_message=None, entries=tuple(entries)
        )

    async def _describe_credentials(self, request: Request) -> Entity:
        """Of the named users, or of all that have some (KIP-554)."""
        asked = request.body.users
        wanted = [user.name for user in asked or ()] or [
            entity_at(path, desanitise)["user"] for path in await self._store.below("users")
        ]
        results: list[Entity] = []
        for name in wanted:
            told = tuple(_credentials(request, await self._store.read(f"users/{sanitise(name)}")))
            if told or asked:
                error = "DUPLICATE_RESOURCE" if wanted.count(name) > 1 else "NONE" if told else "RESOURCE_NOT_FOUND"
                result = request.shape("DescribeUserScramCredentialsResult")
                results.append(
                    result(
                        user=name,
                        error_code=error_code(error),
                        error_message=None if error == "NONE" else f"No SCRAM credentials are told of user {name}.",
                        credential_infos=told if error == "NONE" else (),
                    )
                )
        return request.answer(
            "DescribeUserScramCredentialsResponse",
            error_code=error_code("NONE"),
            error_message=None,
            results=tuple(results),
        )

    async def _paths(self) -> list[str]:
        below = self._store.below
        users = await below("users")
        of_users = [client for user in users for client in await below(f"{user}/clients")]
        return [*users, *of_users, *await below("clients"), *await below("ips")]

    async def _alter(self, request: Request) -> Entity:
        entries: list[Entity] = []
        for asked in request.body.entries:
            refusal = await self._change(asked, dry=request.body.validate_only)
            shape = request.shape("EntityData")
            entity = tuple(shape(entity_type=e.entity_type, entity_name=e.entity_name) for e in asked.entity)
            error, message = ("NONE", None) if refusal is None else (refusal.error, refusal.message)
            entry = request.shape("EntryData")
            entries.append(entry(error_code=error_code(error), error_message=message, entity=entity))
        return request.answer("AlterClientQuotasResponse", entries=tuple(entries))

    async def _change(self, asked: Any, *, dry: bool) -> Refusal | None:
        entity = {e.entity_type: DEFAULT_ENTITY if e.entity_name is None else e.entity_name for e in asked.entity}
        path = entity_path(entity, sanitise)
        if isinstance(path, Refusal):
            return path
        changes = [(each.key, None if each.remove else each.value) for each in asked.ops]
        after = altered_quotas(await self._store.read(path), entity, changes)
        if isinstance(after, Refusal) or dry:
            return after if isinstance(after, Refusal) else None
        if await self._store.write(path, after):
            return None
        return Refusal("UNKNOWN_SERVER_ERROR", "ZooKeeper did not take the quota.")


def _credentials(request: Request, config: Config) -> Iterator[Entity]:
    for name, mechanism in MECHANISMS.items():
        iterations = _ITERATIONS.search(config.get(name, ""))
        if iterations is not None:
            yield request.shape("CredentialInfo")(mechanism=mechanism, iterations=int(iterations[1]))


def _entry(request: Request, entity: Mapping[str, str], quotas: Mapping[str, float]) -> Entity:
    part, value = request.shape("EntityData"), request.shape("ValueData")
    return request.shape("EntryData")(
        entity=tuple(
            part(entity_type=kind, entity_name=None if name == DEFAULT_ENTITY else name)
            for kind, name in entity.items()
        ),
        values=tuple(value(key=key, value=amount) for key, amount in quotas.items()),
    )
