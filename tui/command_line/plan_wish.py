"""What the options of `kdrill plan` ask for, as a request; options that exclude each other. It opens nothing."""

import re
from collections.abc import Mapping
from typing import Any, NoReturn

import click

from model.planning.request import Batching, NewBroker, PlanRequest, Reach, Throttling

_UNITS = {
    "": 1,
    **{unit: 1000**power for power, unit in enumerate("kmgt", 1)},
    **{f"{unit}i": 1024**power for power, unit in enumerate("kmgt", 1)},
}
_TIMES = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


Options = Mapping[str, Any]
"""By the names of `plan_options`."""


class Amount(click.ParamType):
    """A number of bytes, or of bytes a second: `500MB`, `1.5GiB`, `90000000`, `50MB/s`."""

    name = "bytes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"(\d{1,18}(?:\.\d+)?)\s*([kmgt]i?)?b?(?:/s)?", str(value).strip().lower())
        amount = round(float(found[1]) * _UNITS[found[2] or ""]) if found else 0
        return amount if amount >= 1 else self.fail(f"{value!r} is no number of bytes: write it as 500MB", param, ctx)


class Duration(click.ParamType):
    """A time in seconds: `90m`, `6h`, `2d`."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = re.fullmatch(r"(\d{1,9}(?:\.\d+)?)\s*([smhd])", str(value).strip().lower())
        seconds = float(found[1]) * _TIMES[found[2]] if found else 0.0
        return seconds if seconds > 0 else self.fail(f"{value!r} is no time: write it as 90m, 6h or 2d", param, ctx)


def request_of(options: Options) -> PlanRequest:
    """The request that the options make. Raises click.UsageError."""
    return PlanRequest(
        remove=tuple(_id(word, "--remove-broker") for word in _words(options["remove"])),
        add=tuple(_new(word) for word in _words(options["add"])),
        replace=tuple(_pair(word) for word in _words(options["swap"])),
        replication_factor=options["factor"],
        reach=_reach(options),
        by=options["by"],
        tolerance_percent=options["tolerance"],
        capacity=options["capacity"],
        topics=options["topics"],
        exclude=options["exclude"],
        batching=Batching(options["batch_size"], options["batch_bytes"], options["batch_count"]),
        throttling=Throttling(options["throttle"], options["within"]),
    )


def names_a_goal(options: Options) -> bool:
    """Whether the options say what is to be planned."""
    goals = ("remove", "add", "swap", "rebalance", "leaders_only", "fix_racks")
    return any(options[goal] for goal in goals) or options["factor"] is not None


def check(options: Options) -> None:
    """Raises click.UsageError for options that make no sense together."""
    changes = options["remove"] or options["add"] or options["swap"] or options["factor"] is not None
    reaches = [name for name in ("rebalance", "leaders_only", "fix_racks", "drain_only") if options[name]]
    if len(reaches) > 1:
        _refuse(f"{_flag(reaches[0])} and {_flag(reaches[1])} exclude each other")
    if options["leaders_only"] and changes:
        _refuse("--leaders-only moves no data: plan brokers and replication factors without it")
    if options["drain_only"] and not (options["remove"] or options["swap"] or options["each_broker"]):
        _refuse("--drain-only needs a broker that leaves: --remove-broker or --replace-broker")
    if options["factor"] is not None and not options["topics"]:
        _refuse("--replication-factor needs --topic: which topics? ('*' for all)")
    if options["throttle"] is not None and options["within"] is not None:
        _refuse("--throttle and --within exclude each other: one follows from the other")
    if options["batch_count"] is not None and (options["batch_bytes"] is not None or options["size_given"]):
        _refuse("--batches excludes --batch-size and --batch-bytes")
    if not (names_a_goal(options) or options["score"] or options["each_broker"]):
        _refuse("nothing to plan: say --rebalance, --remove-broker ID, --add-broker ID or another goal")
    if options["each_broker"] and any(options[name] for name in ("output", "rollback", "election", "score")):
        _refuse("--each-broker makes no plan to keep: -o, --rollback, --election and --score make no sense with it")
    if options["batch_files"] and not (options["output"] or options["rollback"]):
        _refuse("--batch-files needs -o or --rollback: where?")


def _reach(options: Options) -> Reach:
    if options["leaders_only"]:
        return "leaders"
    if options["fix_racks"]:
        return "racks"
    if options["drain_only"]:
        return "forced"
    balances = options["rebalance"] or options["remove"] or options["add"]
    return "balance" if balances or not names_a_goal(options) else "forced"


def _words(texts: tuple[str, ...]) -> list[str]:
    return [word.strip() for text in texts for word in text.split(",")]


def _id(word: str, option: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 11 and int(word) < 2**31):
        _refuse(f"{option}: {word!r} is no broker id")
    return int(word)


def _new(word: str) -> NewBroker:
    number, colon, rack = word.partition(":")
    if colon and not rack:
        _refuse(f"--add-broker: {word!r}: write it as ID or ID:RACK")
    return NewBroker(_id(number, "--add-broker"), rack or None)


def _pair(word: str) -> tuple[int, int]:
    old, colon, new = word.partition(":")
    if not colon:
        _refuse(f"--replace-broker: {word!r}: write it as OLD:NEW")
    return _id(old, "--replace-broker"), _id(new, "--replace-broker")


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _refuse(reason: str) -> NoReturn:
    raise click.UsageError(reason)
