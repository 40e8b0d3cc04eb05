"""Where a broker listens and what it tells others of it: `listeners` and its kin, taken apart.

Source: `KafkaConfig.effectiveAdvertisedListeners`, `getInterBrokerListenerNameAndSecurityProtocol` (3.9);
KIP-103 (0.10.2).
"""

import re
from collections import Counter
from typing import NamedTuple

from model.broker.settings.broker_keys import (
    ADVERTISED_LISTENERS,
    INTER_BROKER_LISTENER_NAME,
    LISTENER_SECURITY_PROTOCOL_MAP,
    LISTENERS,
)
from model.broker.settings.key import Key
from model.broker.settings.settings import Settings

_LISTENER = re.compile(r"([A-Za-z0-9_-]+)://(\[[0-9A-Fa-f:.%]+\]|[^\s:,/\[\]]*):(\d{1,5})")
ANY_ADDRESS = "0.0.0.0"
LOOPBACK = "127.0.0.1"


class Listener(NamedTuple):
    """One of them. An empty host listens everywhere, and is told as the machine's own name."""

    name: str
    host: str
    port: int


def listeners_of(settings: Settings) -> tuple[Listener, ...]:
    """Where to listen. Raises ValueError with a line for the user.

    Where `listeners` is not given, this machine alone is served, unlike Kafka, which then listens everywhere.
    """
    listeners = _parse(LISTENERS, settings[LISTENERS])
    if LISTENERS.name in settings.given:
        return listeners
    return tuple(listener._replace(host=LOOPBACK) for listener in listeners)


def advertised_listeners_of(settings: Settings) -> tuple[Listener, ...]:
    """What clients and other brokers are told; without advertised.listeners the same. Raises ValueError."""
    advertised = settings[ADVERTISED_LISTENERS]
    return listeners_of(settings) if advertised is None else _parse(ADVERTISED_LISTENERS, advertised)


def inter_broker_listener_of(settings: Settings) -> str:
    """The name of the listener that other brokers use: by default the one of plain text."""
    return settings[INTER_BROKER_LISTENER_NAME] or "PLAINTEXT"


def protocols_of(settings: Settings) -> dict[str, str]:
    """listener.security.protocol.map taken apart: protocols by listener."""
    pairs = settings[LISTENER_SECURITY_PROTOCOL_MAP].split(",")
    return {name.strip(): protocol.strip() for name, _, protocol in (pair.partition(":") for pair in pairs)}


def listener_refusals(settings: Settings) -> tuple[str, ...]:
    """What is wrong with them, a sentence each."""
    try:
        listening, advertised = listeners_of(settings), advertised_listeners_of(settings)
    except ValueError as error:
        return (str(error),)
    protocols, between = protocols_of(settings), inter_broker_listener_of(settings)
    refusals = [
        f"listener {each.name} has the protocol {protocols.get(each.name)}: only PLAINTEXT is served here "
        f"(listener.security.protocol.map)"
        for each in listening
        if protocols.get(each.name) != "PLAINTEXT"
    ]
    names = {each.name for each in listening}
    refusals += [
        f"advertised.listeners has {each.name}, which listeners has not"
        for each in advertised
        if each.name not in names
    ]
    if between not in {each.name for each in advertised}:
        refusals.append(f"inter.broker.listener.name is {between}, which no advertised listener has")
    if any(each.host == ANY_ADDRESS for each in advertised):
        refusals.append(f"advertised.listeners cannot have {ANY_ADDRESS}: nobody can connect to it, name a host")
    return tuple(refusals)


def _parse(key: Key[str] | Key[str | None], text: str) -> tuple[Listener, ...]:
    found: list[Listener] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _LISTENER.fullmatch(part)
        if match is None or not -1 <= int(match[3]) <= 65_535:
            raise ValueError(f"{key.name} takes NAME://HOST:PORT, with commas, not {part[:80]!r}")
        found.append(Listener(match[1].upper(), match[2].strip("[]"), int(match[3])))
    if not found:
        raise ValueError(f"{key.name} is empty: it takes NAME://HOST:PORT, as PLAINTEXT://:9092")
    twice = [name for name, times in Counter(each.name for each in found).items() if times > 1]
    if twice:
        raise ValueError(f"{key.name} names {twice[0]} twice")
    return tuple(found)
