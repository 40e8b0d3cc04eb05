"""The text of a server.properties as settings, with a line for all that is wrong with it. It opens no file.

Source: `java.util.Properties.load` for the syntax: comments, three separators, continued lines, escapes; of equal keys
the last wins. `KafkaConfig.validateValues` (3.9) for settings that contradict each other.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from model.broker.partition import replication_rules_of
from model.broker.settings import keys
from model.broker.settings.catalogue import KEPT_KEYS, KEYS, OWN_KEYS, remark_on
from model.broker.settings.keys import BROKER_ID, NODE_ID, Key
from model.broker.settings.settings import Settings, listener_refusals, quorum_addresses
from model.cluster.ids import release_numbers

_BLANKS = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_LINE_ENDS = re.compile("\r\n|\r|\n")
_NUMBER_OF_CHARACTER = re.compile(r"[0-9A-Fa-f]{4}")


class ServerProperty(NamedTuple):
    """A key with its value, and the line on which it begins, from 1."""

    key: str
    value: str
    line: int


class PropertiesError(ValueError):
    r"""A line that is no property: a `\u` without four digits is all that Java refuses."""


def read_properties(text: str) -> list[ServerProperty]:
    """The properties in order, equal keys included. Raises PropertiesError, naming the line."""
    return [_split(line, number) for number, line in _logical_lines(text)]


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments and blank ones, each with those that continue it."""
    begun: str | None = None
    number = 0
    lines = _LINE_ENDS.split(text)
    for at, raw in enumerate(lines if lines[-1] else lines[:-1], 1):
        line = raw.lstrip(_BLANKS)
        if not begun:
            if not line or line[0] in "#!":
                begun = None
                continue
            number = at
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            begun = (begun or "") + line[:-1]
        else:
            yield number, (begun or "") + line
            begun = None
    if begun is not None:
        yield number, begun


def _split(line: str, number: int) -> ServerProperty:
    """The key ends at the first `=`, `:` or blank that is not escaped."""
    end, escaped = 0, False
    while end < len(line) and (escaped or line[end] not in "=:" + _BLANKS):
        escaped = line[end] == "\\" and not escaped
        end += 1
    value = line[end:].lstrip(_BLANKS)
    if value[:1] in ("=", ":"):
        value = value[1:].lstrip(_BLANKS)
    return ServerProperty(_unescape(line[:end], number), _unescape(value, number), number)


def _unescape(text: str, number: int) -> str:
    parts = text.split("\\")
    result = parts[0]
    rest = iter(parts[1:])
    for part in rest:
        if not part:  # two backslashes: the second stands for itself
            result += "\\" + next(rest, "")
        elif part[0] == "u":
            if not _NUMBER_OF_CHARACTER.match(part, 1):
                raise PropertiesError(f"line {number}: \\{part[:5]} is no character: \\u takes four hexadecimal digits")
            result += chr(int(part[1:5], 16)) + part[5:]
        else:
            result += _ESCAPES.get(part[0], part[0]) + part[1:]
    return result


def contradictions(settings: Settings) -> tuple[str, ...]:
    """A sentence for each; none: the broker can start."""
    return tuple(refusal for check in _CHECKS if (refusal := check(settings))) + listener_refusals(settings)


def _zookeeper(settings: Settings) -> str | None:
    roles, server = settings[keys.PROCESS_ROLES], settings[keys.ZOOKEEPER_CONNECT]
    if roles and server:
        return "process.roles and zookeeper.connect are both set: name ZooKeeper, or the roles in KRaft mode"
    if roles:
        return _kraft(settings, roles)
    if server:
        return None
    return "zookeeper.connect is missing: name a server, as localhost:2181/kafka"


def _kraft(settings: Settings, roles: Sequence[str]) -> str | None:
    if roles != ("broker",):
        return f"process.roles is {','.join(roles)}: here a broker is no controller, set it to broker"
    try:
        if quorum_addresses(settings):
            return None
    except ValueError as error:
        return str(error)
    return "controller.quorum.bootstrap.servers is missing: name a controller, as localhost:9093"


def _broker_id(settings: Settings) -> str | None:
    if settings[keys.PROCESS_ROLES]:
        broker = settings[BROKER_ID]
        return None if broker >= 0 else f"node.id is {broker}: in KRaft mode it takes 0 or more"
    broker, most = settings[keys.BROKER_ID], settings[keys.RESERVED_BROKER_MAX_ID]
    if settings[keys.BROKER_ID_GENERATION_ENABLE]:
        if -1 <= broker <= most:
            return None
        return f"broker.id is {broker}: it takes 0 to {most} (reserved.broker.max.id), or -1 to be given one"
    return None if broker >= 0 else f"broker.id is {broker}: without broker.id.generation.enable it takes 0 or more"


def _release(settings: Settings) -> str | None:
    try:
        replication_rules_of(settings[keys.INTER_BROKER_PROTOCOL_VERSION])
    except ValueError as error:
        return f"inter.broker.protocol.version: {error}"
    return None


def _message_format(settings: Settings) -> str | None:
    key, protocol = keys.LOG_MESSAGE_FORMAT_VERSION, settings[keys.INTER_BROKER_PROTOCOL_VERSION]
    if key.name not in settings.given or release_numbers(protocol) >= (3,):
        return None
    if release_numbers(settings[key]) <= release_numbers(protocol):
        return None
    return f"{key.name} is {settings[key]}: it must not be above inter.broker.protocol.version ({protocol})"


def _fetch_wait_and_lag(settings: Settings) -> str | None:
    wait_ms, lag_ms = (
        settings[keys.REPLICA_FETCH_WAIT_MAX_MS],
        settings[keys.REPLICA_LAG_TIME_MAX_MS],
    )
    if wait_ms <= lag_ms:
        return None
    return f"replica.fetch.wait.max.ms is {wait_ms}: it must not be above replica.lag.time.max.ms ({lag_ms})"


def _fetch_wait_and_timeout(settings: Settings) -> str | None:
    wait_ms, timeout_ms = (
        settings[keys.REPLICA_FETCH_WAIT_MAX_MS],
        settings[keys.REPLICA_SOCKET_TIMEOUT_MS],
    )
    if timeout_ms >= wait_ms:
        return None
    return f"replica.socket.timeout.ms is {timeout_ms}: it must be replica.fetch.wait.max.ms ({wait_ms}) at least"


def _retention(settings: Settings) -> str | None:
    units: tuple[Key[int | None], ...] = (
        keys.LOG_RETENTION_MS,
        keys.LOG_RETENTION_MINUTES,
        keys.LOG_RETENTION_HOURS,
    )
    for key in units:
        if settings[key] == 0:
            return f"{key.name} is 0: it takes 1 or more, or -1 to keep all"
    return None


_CHECKS: tuple[Callable[[Settings], str | None], ...] = (
    _zookeeper,
    _broker_id,
    _release,
    _message_format,
    _fetch_wait_and_lag,
    _fetch_wait_and_timeout,
    _retention,
)


CHECKED = ("BOOLEAN", "DOUBLE", "INT", "LONG", "SHORT")
"""What is refused also of a key without effect: texts and classes may be right in ways that are not known here."""


class ServerProperties(NamedTuple):
    """With a refusal the broker must not start; a remark is to be told. Both are lines for the user."""

    settings: Settings
    refusals: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def read_server_properties(
    text: str, file: str = "server.properties", overrides: Sequence[str] = ()
) -> ServerProperties:
    """Settings from the text of a file; `file` is what messages call it. A value that is none keeps its default.

    `overrides`: key=value each, from the command line; they stand above the file.
    """
    try:
        properties = {each.key: (f"{file}:{each.line}", each) for each in read_properties(text)}
    except PropertiesError as error:
        return ServerProperties(Settings(), (f"{file}: {error}",))
    try:
        properties |= {each.key: ("--override", each) for line in overrides for each in read_properties(line)}
    except PropertiesError as error:
        return ServerProperties(Settings(), (f"--override: {error}",))
    values: dict[str, object] = {}
    refusals: list[str] = []
    remarks: list[str] = []
    for place, each in properties.values():
        key = KEYS.get(each.key) or OWN_KEYS.get(each.key)
        try:
            if key is not None:
                values[key.name] = key.read(each.value)
            else:
                kept = KEPT_KEYS.get(each.key)
                if kept is not None and kept.kind.type in CHECKED:
                    kept.read(each.value)
                values[each.key] = each.value  # told when the broker is asked what it is set to
                remarks.append(f"{place}: {remark_on(each.key)}")
        except ValueError as error:
            refusals.append(f"{place}: {error}")
    ids = [values[key.name] for key in (BROKER_ID, NODE_ID) if key.name in values]
    if len(set(ids)) > 1:
        refusals.append(f"{file}: broker.id is {ids[0]} and node.id is {ids[1]}: they have to be the same")
    if ids:
        values |= {BROKER_ID.name: ids[0], NODE_ID.name: ids[0]}  # Kafka has each of them for the other
    settings = Settings(values)
    # What was refused has its default here, of which nothing false may be said.
    across = () if refusals else tuple(f"{file}: {line}" for line in contradictions(settings))
    return ServerProperties(settings, (*refusals, *across), tuple(remarks))
