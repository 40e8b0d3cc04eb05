"""Asks for settings: of topics and of brokers, those that somebody has set. Nothing is sent here.

Source: DescribeConfigs as `kafka-configs --describe` sends it; `DescribeConfigsResponse.ConfigSource` (3.9).
"""

from collections.abc import Iterator, Sequence

from model.cluster.secrets import HIDDEN
from model.hosts.wire.api_keys import DESCRIBE_CONFIGS
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import error_name

NEWEST_DESCRIBE_CONFIGS = 4
TOPIC, BROKER = 2, 4
"""`ConfigResource.Type`."""
_SET_ON_TOPIC, _SET_ON_BROKER, _SET_ON_BROKERS, _IN_FILE = 1, 2, 3, 4
_PLACES = {
    (TOPIC, _SET_ON_TOPIC): "topics/{}",
    (BROKER, _SET_ON_BROKER): "brokers/{}",
    (BROKER, _SET_ON_BROKERS): "brokers/<default>",
    (BROKER, _IN_FILE): "server.properties/{}",
}
"""Kind of entity, and where a value comes from → the entity it is set on. Defaults are nowhere."""


def describe_configs(connection: Connection, kind: int, names: Sequence[str]) -> Entity:
    """All settings of these."""
    module = shapes(DESCRIBE_CONFIGS, connection.newest(DESCRIBE_CONFIGS, NEWEST_DESCRIBE_CONFIGS), "request")
    resources = tuple(
        module.DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
        for name in names
    )
    request = module.DescribeConfigsRequest
    return shaped(request, resources=resources, include_synonyms=False, include_documentation=False)


def described_configs(response: Entity) -> Iterator[tuple[str, str, dict[str, dict[str, str]]]]:
    """Name, Kafka's name of the error, and entity → what is set on it, the named one among them.

    A broker's own file counts as the entity `server.properties/1`. Before 1.1 brokers do not tell where a value is
    from: then all that differs from the default counts as set on the thing itself.
    """
    for result in response.results:
        kind, name = int(result.resource_type), str(result.resource_name)
        own = _PLACES[kind, 1 if kind == TOPIC else 2]
        found: dict[str, dict[str, str]] = {own.format(name): {}}
        for each in result.configs:
            place = own if getattr(each, "is_default", True) is False else _place(kind, each)
            if place:
                text = HIDDEN if each.is_sensitive else str(each.value or "")
                found.setdefault(place.format(name), {})[str(each.name)] = text
        yield name, error_name(result.error_code), found


def _place(kind: int, config: Entity) -> str:
    return _PLACES.get((kind, int(getattr(config, "config_source", -1))), "")
