"""Rates over windows, and what follows from their bounds: replication throttles (KIP-73), client quotas (KIP-13).

Whose quota holds, how long a client has to wait, which partitions are throttled: decided here from values. It reads
no clock and delays nobody. Times are in ms, rates in units a second.

Source: `org.apache.kafka.common.metrics.stats.SampledStat`, `SimpleRate`, `Rate`, `QuotaUtils`,
`kafka.server.ReplicationQuotaManager`, `ClientQuotaManager`, `ConfigHandler` (3.9).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import floor
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from model.controller import Refusal
from model.znodes.configs import DEFAULT_ENTITY


class QuotaSample(NamedTuple):
    """What was counted in one window. It began at `start_ms`; `last_ms` is when something was counted last."""

    start_ms: int
    last_ms: int
    total: float = 0.0


class QuotaMeter(msgspec.Struct, frozen=True):
    """Samples of `size_ms` each, of which `num` count; one more is kept, for the one that is about to go.

    `current` is the index of the sample that is counted in.
    """

    num: int = 11
    size_ms: int = 1_000
    samples: tuple[QuotaSample, ...] = ()
    current: int = 0

    def recorded(self, value: float, now_ms: int) -> "QuotaMeter":
        """With so much more counted."""
        samples, current = list(self.samples) or [QuotaSample(now_ms, now_ms)], self.current
        if now_ms - samples[current].start_ms >= self.size_ms:
            current = (current + 1) % (self.num + 1)
            samples[current : current + 1] = [QuotaSample(now_ms, now_ms)]
        at = samples[current]
        samples[current] = QuotaSample(at.start_ms, now_ms, at.total + value)
        return msgspec.structs.replace(self, samples=tuple(samples), current=current)

    def purged(self, now_ms: int) -> "QuotaMeter":
        """Without what is too old to count: such a sample begins anew now, and so does the first. To be asked so."""
        if not self.samples:
            return msgspec.structs.replace(self, samples=(QuotaSample(now_ms, now_ms),))
        oldest_ms = now_ms - self.num * self.size_ms
        if all(each.last_ms > oldest_ms for each in self.samples):
            return self
        samples = tuple(each if each.last_ms > oldest_ms else QuotaSample(now_ms, now_ms) for each in self.samples)
        return msgspec.structs.replace(self, samples=samples)

    @property
    def total(self) -> float:
        return sum(each.total for each in self.samples)

    def _elapsed_ms(self, now_ms: int) -> int:
        return now_ms - min((each.start_ms for each in self.samples), default=now_ms)

    def replication_rate(self, now_ms: int) -> float:
        """Since the oldest sample began, at least one window (`SimpleRate`)."""
        return self.total * 1_000 / max(self._elapsed_ms(now_ms), self.size_ms)

    def client_window_ms(self, now_ms: int) -> int:
        """As if there had been samples for all but one window (`Rate.windowSize`)."""
        elapsed_ms = self._elapsed_ms(now_ms)
        missing = max(self.num - 1 - elapsed_ms // self.size_ms, 0)
        return max(elapsed_ms + missing * self.size_ms, self.size_ms)

    def client_rate(self, now_ms: int) -> float:
        """Over that window (`Rate`)."""
        return self.total * 1_000 / self.client_window_ms(now_ms)

    def throttle_ms(self, bound: float, now_ms: int) -> int:
        """How long a client has to wait until its rate is what it may be; 0 where it is not above."""
        excess = self.client_rate(now_ms) - bound
        if excess <= 0:
            return 0
        return _java_round(excess / bound * self.client_window_ms(now_ms)) if bound > 0 else LONG_MAX


LONG_MAX = 2**63 - 1


def _java_round(value: float) -> int:
    return min(floor(value + 0.5), LONG_MAX)


# Replication.


class ThrottledReplicas(msgspec.Struct, frozen=True):
    """The partitions of a topic whose replicas on one broker are throttled."""

    numbers: frozenset[int] = frozenset()
    all: bool = False

    def __contains__(self, number: int) -> bool:
        return self.all or number in self.numbers


def throttled_replicas(words: Sequence[str], broker: int) -> ThrottledReplicas:
    """From a topic's `PARTITION:BROKER` words, or `*`."""
    if tuple(words) == ("*",):
        return ThrottledReplicas(all=True)
    pairs = (word.split(":") for word in words)
    return ThrottledReplicas(frozenset(int(number) for number, at in pairs if int(at) == broker))


# Clients.

UNSET = None
"""The part of an entity that is not named."""
Entity = Mapping[str, str]
"""`user`, `client-id` or `ip` → a name, DEFAULT_ENTITY for those that have none of their own."""

_USERS_AND_CLIENTS: Mapping[str, type] = MappingProxyType(
    {
        "producer_byte_rate": int,
        "consumer_byte_rate": int,
        "request_percentage": float,
        "controller_mutation_rate": float,
    }
)
OBEYED_QUOTAS = frozenset({"producer_byte_rate", "consumer_byte_rate", "request_percentage"})
"""The others are kept and told."""
_IPS: Mapping[str, type] = MappingProxyType({"connection_creation_rate": int})
_EPSILON = 1e-6
_ALIEN = frozenset({"SCRAM-SHA-256", "SCRAM-SHA-512"})
"""What else may stand at a user."""


def entity_path(entity: Entity, sanitise: Callable[[str], str]) -> str | Refusal:
    """Where an entity's quotas lie below `/config`."""
    unknown = sorted(entity.keys() - {"user", "client-id", "ip"})
    if unknown:
        return Refusal("INVALID_REQUEST", f"Unhandled client quota entity type: {unknown[0]}")
    empty = sorted(kind for kind, name in entity.items() if not name)
    if empty or not entity:
        return Refusal("INVALID_REQUEST", f"Empty {empty[0]} not supported" if empty else "Empty client quota entity")
    names = {kind: name if name == DEFAULT_ENTITY else sanitise(name) for kind, name in entity.items()}
    if "ip" in names:
        if len(names) > 1:
            return Refusal("INVALID_REQUEST", "An IP entity cannot be combined with a user or a client ID.")
        return f"ips/{entity['ip']}"
    user, client = names.get("user"), names.get("client-id")
    if user is None:
        return f"clients/{client}"
    return f"users/{user}" + (f"/clients/{client}" if client else "")


def altered_quotas(
    config: Mapping[str, str], entity: Entity, changes: Iterable[tuple[str, float | None]]
) -> Mapping[str, str] | Refusal:
    """An entity's configuration after these; None takes a quota away."""
    known = _IPS if "ip" in entity else _USERS_AND_CLIENTS
    after = dict(config)
    for key, value in changes:
        if value is None:
            after.pop(key, None)
        elif key not in known:
            return Refusal("INVALID_REQUEST", f"Invalid configuration key {key}")
        elif known[key] is float:
            after[key] = str(float(value))
        else:
            whole = int(value + _EPSILON)
            if abs(whole - value) > _EPSILON or (known is _IPS and whole < 0):
                return Refusal("INVALID_REQUEST", f"Configuration {key} must be a whole number from 0 on")
            after[key] = str(min(whole, LONG_MAX))
    return after


def entity_at(path: str, desanitise: Callable[[str], str]) -> dict[str, str]:
    """The other way."""
    words = path.split("/")
    kinds = {"users": "user", "clients": "client-id", "ips": "ip"}
    parts = zip(words[::2], words[1::2], strict=False)
    return {kinds[kind]: name if name == DEFAULT_ENTITY else desanitise(name) for kind, name in parts if kind in kinds}


def quotas_in(config: Mapping[str, str]) -> dict[str, float]:
    """What an entity's configuration says; what is no number is passed over."""
    quotas: dict[str, float] = {}
    for key, text in config.items():
        if key in _ALIEN:
            continue
        try:
            quotas[key] = float(text)
        except ValueError:
            continue
    return quotas


EXACT, DEFAULT, ANY = range(3)
"""`ClientQuotaFilterComponent`'s kinds of matches."""


class FilterPart(NamedTuple):
    """What is asked of one part of an entity: a name, none of its own, or any."""

    kind: str
    match: int
    name: str | None = None

    def matches(self, name: str | None) -> bool:
        if self.match == ANY:
            return name is not None
        return name == (DEFAULT_ENTITY if self.match == DEFAULT else self.name)


def filter_problem(parts: Sequence[FilterPart]) -> tuple[str, str] | None:
    """Kafka's error and a message for a question that has no answer."""
    kinds = [part.kind for part in parts]
    if "" in kinds:
        return "INVALID_REQUEST", "Unexpected empty filter component entity type"
    unknown = sorted(set(kinds) - {"user", "client-id", "ip"})
    if unknown:
        return "UNSUPPORTED_VERSION", f"Custom entity type '{unknown[0]}' not supported"
    if len(set(kinds)) < len(kinds):
        return "INVALID_REQUEST", "Duplicate filter component entity type"
    if "ip" in kinds and len(kinds) > 1:
        return "INVALID_REQUEST", "An IP filter cannot be combined with one of users or client IDs."
    if any(part.match not in (EXACT, DEFAULT, ANY) or (part.match == EXACT and part.name is None) for part in parts):
        return "UNKNOWN_SERVER_ERROR", "Unknown filter"
    return None


def is_meant(entity: Entity, parts: Sequence[FilterPart], *, strict: bool) -> bool:
    """Whether a question is about this entity. `strict`: about no other part of it."""
    if strict and sorted(entity) != sorted(part.kind for part in parts):
        return False
    return all(part.matches(entity.get(part.kind)) for part in parts)


Quotas = Mapping[tuple[str | None, str | None], Mapping[str, float]]
"""User and client (None: not named, DEFAULT_ENTITY: all others) → the quotas that were set."""


class Quota(NamedTuple):
    """A bound, and who shares it: user and client, empty for all of them."""

    bound: float
    user: str
    client: str


def quota_of(quotas: Quotas, key: str, user: str, client: str) -> Quota | None:
    """The quota that holds for a client of a user; None: there is no bound (`DefaultQuotaCallback`)."""
    levels = (
        ((user, client), (user, client)),
        ((user, DEFAULT_ENTITY), (user, client)),
        ((user, UNSET), (user, "")),
        ((DEFAULT_ENTITY, client), (user, client)),
        ((DEFAULT_ENTITY, DEFAULT_ENTITY), (user, client)),
        ((DEFAULT_ENTITY, UNSET), (user, "")),
        ((UNSET, client), ("", client)),
        ((UNSET, DEFAULT_ENTITY), ("", client)),
    )
    for entity, shared_by in levels:
        bound = quotas.get(entity, {}).get(key)
        if bound is not None:
            return Quota(bound, *shared_by)
    return None
