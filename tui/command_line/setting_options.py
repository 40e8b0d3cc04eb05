"""Settings as they are typed: `--config name=value`, `--add-config a=1,b=[x,y]`, `--delete-config a,b`."""

import re
from collections.abc import Iterable, Mapping

import click

from model.broker.settings.wanted import said_of

_COMMA = re.compile(r",(?=[^\]]*(?:\[|$))")
_NAME = re.compile(r"[a-zA-Z0-9._-]+")


def settings_of(texts: Iterable[str]) -> dict[str, str]:
    """`name=value` each. Raises click.UsageError."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not _NAME.fullmatch(name.strip()):
            raise click.UsageError(f"{text!r}: write name=value")
        found[name.strip()] = value.strip()
    return found


def listed_settings(texts: Iterable[str]) -> dict[str, str]:
    """Lists of `name=value`, with commas; brackets hold a value that has commas itself (`ConfigCommand`, 3.9)."""
    each = (part for text in texts for part in _COMMA.split(text))
    return {name: re.sub(r"[\[\]]", "", value) for name, value in settings_of(each).items()}


def listed_names(texts: Iterable[str]) -> tuple[str, ...]:
    """Lists of names with commas between."""
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def checked(kind: str, wanted: Mapping[str, str]) -> tuple[str, ...]:
    """Remarks about names. Raises click.UsageError for a value that no broker takes."""
    said = said_of(kind, wanted)
    if said.refusals:
        raise click.UsageError("; ".join(said.refusals))
    return said.remarks
