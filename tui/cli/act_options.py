"""The options of every command that acts, and where offsets are to be set to, as kafka-consumer-groups.sh is told."""

import csv
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any

import click
import msgspec

from model.actions.reset import Reset
from model.cluster.ids import TopicPartition
from model.cluster.whole_file import MOST_FACTS, read_text

Command = Callable[..., Any]


class ActOptions(msgspec.Struct, frozen=True):
    """Whether a proposal may be carried out, whether to ask first, and how it is printed."""

    allow_writes: bool = False
    yes: bool = False
    as_json: bool = False


def takes_act_options(command: Command) -> Command:
    """The command gets them as `act`."""

    @click.option("--allow-writes", is_flag=True, help="do it; without this, only show what would be done")
    @click.option("--yes", is_flag=True, help="do not ask")
    @click.option("--json", "as_json", is_flag=True, help="print a kdrill.act/1 document")
    @wraps(command)
    def with_act_options(allow_writes: bool, yes: bool, as_json: bool, **others: Any) -> Any:
        return command(act=ActOptions(allow_writes, yes, as_json), **others)

    return with_act_options


_DURATION = re.compile(
    r"P(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)
_SECONDS = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}


def reset_of(how: Mapping[str, object], now_ms: int, *, has_file: bool = False) -> Reset:
    """The reset that the options ask for: exactly one of them, or a file. Raises click.UsageError."""
    given = {name.replace("_", "-"): value for name, value in how.items() if value is not None and value is not False}
    if len(given) + has_file != 1:
        raise click.UsageError("say where to, once: --to-earliest, --to-latest, --to-offset N, --shift-by N …")
    name, value = next(iter(given.items()), ("to-offset", 0))
    match name:
        case "to-datetime":
            return Reset("to-time", time_ms(str(value)))
        case "by-duration":
            return Reset("to-time", now_ms - duration_ms(str(value)))
        case "to-earliest" | "to-latest" | "to-current":
            return Reset(name)
        case _:
            return Reset("shift-by" if name == "shift-by" else "to-offset", int(str(value)))


def time_ms(text: str) -> int:
    """A time in ms since the epoch; UTC if it names no zone, as in Kafka's tool. Raises click.UsageError."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise click.UsageError(f"--to-datetime {text!r}: write it as 2026-11-20T12:03:58Z") from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)


def duration_ms(text: str) -> int:
    """An ISO 8601 duration of days or less, in ms. Raises click.UsageError."""
    found = _DURATION.fullmatch(text)
    parts = {name: value for name, value in found.groupdict().items() if value} if found else {}
    if not parts:
        raise click.UsageError(f"--by-duration {text!r}: write it as P1DT2H30M, or PT10M")
    return int(sum(float(value) * _SECONDS[name] for name, value in parts.items()) * 1000)


def offsets_in(path: Path) -> dict[TopicPartition, int]:
    """The offsets in a file with `topic,partition,offset` on each line. Raises click.ClickException."""
    try:
        rows = [row for row in csv.reader(read_text(path, most_bytes=MOST_FACTS).split("\n")) if row]
        return {TopicPartition(topic, int(partition)): int(offset) for topic, partition, offset in rows}
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}") from None
    except ValueError:
        raise click.ClickException(f"{path}: each line is topic,partition,offset") from None
