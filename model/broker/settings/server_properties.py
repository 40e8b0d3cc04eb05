"""The text of a server.properties as settings, with a line for all that is wrong with it."""

from collections.abc import Sequence
from typing import NamedTuple

from model.broker.settings.catalogue import KEYS, OWN_KEYS, remark_on
from model.broker.settings.cross_checks import contradictions
from model.broker.settings.properties_text import PropertiesError, read_properties
from model.broker.settings.settings import Settings


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
                remarks.append(f"{place}: {remark_on(each.key)}")
        except ValueError as error:
            refusals.append(f"{place}: {error}")
    settings = Settings(values)
    # What was refused has its default here, of which nothing false may be said.
    across = () if refusals else tuple(f"{file}: {line}" for line in contradictions(settings))
    return ServerProperties(settings, (*refusals, *across), tuple(remarks))
