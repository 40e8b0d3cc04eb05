"""What a forecast assumes: how often things fail, how long it takes, each with its source, as a file may say otherwise.

A file is `kdrill.assumptions/1`, TOML or JSON with the same keys: `rates`, `times`, `groups`, `maintenance`,
`overrides`. What it does not say is as `RATES` has it. Sources are named as their authors are; "assumed" means that no
published figure was found.
"""

import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, cast

import msgspec

FORMAT = "kdrill.assumptions/1"


class AssumptionError(Exception):
    """One line that names the place in the file, and the way out."""


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """A figure, how far it may be off, and who says so. Units are in the key: h, min, s, MBps, a year (`_y`)."""

    key: str
    value: float
    low: float
    high: float
    source: str
    given: bool = False
    """Whether the user's file or a recording says so; else it is a default."""


def _rate(key: str, value: float, low: float, high: float, source: str) -> Rate:
    return Rate(key=key, value=value, low=low, high=high, source=source)


_OPEN = "assumed: no published figure found"
RATES = (
    _rate(
        "broker.mtbf_h", 2_190, 730, 8_760, "Ford et al. 2010: node MTTF of 4.3 months; Dean 2009: twice a year or more"
    ),
    _rate("broker.mttr_min", 15, 2, 120, "Ford et al. 2010: most outages of nodes end within 15 min"),
    _rate("recovery.s", 60, 12, 6_000, "assumed; Kozlovski 2024 tells of hours for 10 TB a broker"),
    _rate("recovery.s_per_tb", 30, 6, 3_000, "assumed; Kozlovski 2024 tells of hours for 10 TB a broker"),
    _rate("disk.afr", 0.015, 0.001, 0.08, "Backblaze 2020 to 2025: 0.93 to 1.57 % a year, by model 0.11 to above 5 %"),
    _rate("disk.mttr_h", 4, 0.5, 48, _OPEN),
    _rate(
        "host.afr", 0, 0, 0.1, "off: disks outlive most hosts; instance stores: 4 %, Yahoo's HDFS up to 9.6 % a year"
    ),
    _rate("rack.mtbf_h", 87_600, 8_760, 175_200, "Ford et al. 2010: rack MTTF of 10.2 years; Gill 2011: 5 % a year"),
    _rate("rack.mttr_h", 2, 0.5, 6, "Dean 2008: 1 to 6 hours"),
    _rate("power.mtbf_h", 43_800, 8_760, 438_000, "Dean 2008: about one PDU in a cluster's first year"),
    _rate("power.mttr_h", 6, 1, 48, "Dean 2008: 6 hours"),
    _rate("power.lost_share", 0.005, 0.005, 0.01, "Yahoo's HDFS: 0.5 to 1 % of nodes do not return"),
    _rate("zone.mtbf_h", 26_280, 8_760, 87_600, _OPEN),
    _rate("zone.mttr_h", 3, 0.5, 12, _OPEN),
    _rate("churn.per_broker_y", 12, 0, 200, _OPEN),
    _rate("churn.min", 3, 0.5, 30, _OPEN),
    _rate("maintenance.per_y", 12, 4, 52, "operators' practice"),
    _rate("maintenance.min_per_broker", 3, 1, 30, "operators' practice"),
    _rate("rereplicate.MBps", 100, 20, 1_000, "assumed: what a broker fetches at when it catches up"),
    _rate("ingress.MBps", 10, 1, 50, "assumed: what a broker's replicas take in; measure it"),
    _rate("data.tb", 1, 0.1, 20, "assumed: a broker's data, where sizes are not known"),
)
"""Defaults, in the order in which they are shown."""

SHARES = ("afr", "lost_share")
MOST_OUTAGES = 10_000
"""Of a component and year."""


class FailureGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Brokers that fail together. `kind`: power takes them down, a network cuts them off; a zone is like power."""

    name: str
    brokers: tuple[int, ...]
    kind: str = "power"
    mtbf_h: float | None = None
    mttr_h: float | None = None


class Calendar(msgspec.Struct, frozen=True, kw_only=True):
    """Rolling restarts of all brokers."""

    every_d: float
    min_per_broker: float = 3.0
    wait_for_isr: bool = True
    polite: bool = True


class Assumptions(msgspec.Struct, frozen=True, kw_only=True):
    """All of them. None: as the cluster's kind has it."""

    rates: Mapping[str, Rate]
    detect_s: float | None = None
    lag_s: float | None = None
    elect_s: float | None = None
    elects_by_fleet: bool = False
    """Each broker fails once in a drill, and its elections take as long as they took there."""
    elect_ms: Mapping[int, float] = {}
    """By broker, where drills said so."""
    rejoin_s: float | None = None
    """Fixed; None: in proportion to what was missed."""
    elr: bool | None = None
    groups: tuple[FailureGroup, ...] = ()
    calendars: tuple[Calendar, ...] | None = None
    """None: as `maintenance.per_y` says."""
    mtbf_h: Mapping[int, float] = {}
    """Of single brokers."""

    def __getitem__(self, key: str) -> float:
        return self.rates[key].value

    def with_rate(self, key: str, value: float, source: str = "") -> "Assumptions":
        """One other figure."""
        rate = self.rates[key]
        changed = msgspec.structs.replace(
            rate, value=value, given=bool(source) or rate.given, source=source or rate.source
        )
        return msgspec.structs.replace(self, rates={**self.rates, key: changed})


USUAL = Assumptions(rates={rate.key: rate for rate in RATES})


def read(text: bytes, name: str) -> Assumptions:
    """A file's. Raises AssumptionError, which names it."""
    try:
        document = _decoded(text)
        return _assumptions(document)
    except AssumptionError as error:
        raise AssumptionError(f"{name}: {error}") from None


def _decoded(text: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(text) if text.lstrip()[:1] == b"{" else tomllib.loads(text.decode())
    except (msgspec.DecodeError, tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise AssumptionError(f"neither TOML nor JSON: {' '.join(str(error).split())}") from None
    document = _table(found, "the file")
    if document.get("format") != FORMAT:
        raise AssumptionError(f'format: it has to say format = "{FORMAT}"')
    return document


_PARTS = ("format", "rates", "times", "groups", "maintenance", "overrides")


def _assumptions(document: Mapping[str, Any]) -> Assumptions:
    _check_keys(document, _PARTS, "", "part")
    rates = dict(USUAL.rates)
    for key, value in _flat(_table(document.get("rates", {}), "rates")):
        if key not in rates:
            raise AssumptionError(f"rates.{key}: no such rate{_near(key, rates)}")
        rates[key] = _rate_of(rates[key], value)
    calendars = document.get("maintenance")
    return Assumptions(
        rates=rates,
        groups=tuple(_group(name, told) for name, told in _table(document.get("groups", {}), "groups").items()),
        calendars=None if calendars is None else tuple(_calendars(calendars)),
        mtbf_h=_overrides(_table(document.get("overrides", {}), "overrides")),
        **_times(_table(document.get("times", {}), "times")),
    )


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """`broker.mtbf_h`, whether it was written with a dot or as a table."""
    for key, value in table.items():
        if isinstance(value, dict) and "value" not in value:
            yield from _flat(cast("dict[str, Any]", value), f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _rate_of(usual: Rate, told: Any) -> Rate:
    place = f"rates.{usual.key}"
    table: dict[str, Any] = cast("dict[str, Any]", told) if isinstance(told, dict) else {"value": told}
    _check_keys(table, ("value", "low", "high", "source"), place, "key")
    value = _number_of(usual.key, table["value"], place)
    low = _number_of(usual.key, table.get("low", min(usual.low, value)), place)
    high = _number_of(usual.key, table.get("high", max(usual.high, value)), place)
    if low > value:
        raise AssumptionError(f"{place}: low {low:g} is above value {value:g}")
    if high < value:
        raise AssumptionError(f"{place}: high {high:g} is below value {value:g}")
    source = table.get("source", "given")
    if not isinstance(source, str):
        raise AssumptionError(f"{place}: source is no text")
    return Rate(key=usual.key, value=value, low=low, high=high, source=source, given=True)


def _number_of(key: str, told: Any, place: str) -> float:
    if key.rpartition(".")[2] in SHARES:
        return _share(told, place)
    number = _number(told, place)
    if key.endswith("mtbf_h"):
        _check_often(number, place)
    if key.endswith("MBps") and number <= 0:
        raise AssumptionError(f"{place}: {number:g} is no rate; write more than 0")
    return number


def _share(told: Any, place: str) -> float:
    if isinstance(told, str) and told.strip().endswith("%"):
        try:
            told = float(told.strip()[:-1]) / 100
        except ValueError:
            raise AssumptionError(f'{place}: {told!r} is no share; write 0.015 or "1.5 %"') from None
    number = _number(told, place)
    if number > 1:
        raise AssumptionError(f'{place}: {number:g} is no share; write {number / 100:g} or "{number:g} %"')
    return number


def _check_often(mtbf_h: float, place: str) -> None:
    if mtbf_h <= 0:
        raise AssumptionError(f"{place}: {mtbf_h:g} h between failures; write more than 0")
    if 8_760 / mtbf_h > MOST_OUTAGES:
        raise AssumptionError(f"{place}: more than {MOST_OUTAGES:,} outages a year are too many to play")


def _number(told: Any, place: str) -> float:
    if isinstance(told, bool) or not isinstance(told, int | float) or not 0 <= told < 1e12:
        raise AssumptionError(f"{place}: {told!r} is no number from 0 on")
    return float(told)


def _times(table: Mapping[str, Any]) -> dict[str, Any]:
    _check_keys(table, ("detect_s", "lag_s", "elect_s", "rejoin", "elr"), "times", "time")
    found: dict[str, Any] = {
        key: _number(table[key], f"times.{key}")
        for key in ("detect_s", "lag_s", "elect_s")
        if key in table and (key, table[key]) != ("elect_s", "fleet")
    }
    found["elects_by_fleet"] = table.get("elect_s") == "fleet"
    if "elr" in table:
        found["elr"] = _flag(table["elr"], "times.elr")
    rejoin = table.get("rejoin", "proportional")
    if rejoin != "proportional":
        if not isinstance(rejoin, dict) or list(cast("dict[str, Any]", rejoin)) != ["fixed_s"]:
            raise AssumptionError(f'times.rejoin: {rejoin!r} is neither "proportional" nor {{ fixed_s = 60 }}')
        found["rejoin_s"] = _number(cast("dict[str, Any]", rejoin)["fixed_s"], "times.rejoin.fixed_s")
    return found


def _group(name: str, told: Any) -> FailureGroup:
    place = f"groups.{name}"
    table = _table(told, place)
    _check_keys(table, ("brokers", "kind", "mtbf_h", "mttr_h"), place, "key")
    ids = table.get("brokers")
    if not isinstance(ids, list) or not ids or not all(type(each) is int for each in cast("list[Any]", ids)):
        raise AssumptionError(f"{place}.brokers: write the ids of brokers, as in [1, 2, 3]")
    kind = table.get("kind", "power")
    if kind not in ("power", "zone", "network"):
        raise AssumptionError(f"{place}.kind: {kind!r} is none of power, zone, network")
    hours = {key: _number(table[key], f"{place}.{key}") for key in ("mtbf_h", "mttr_h") if key in table}
    if "mtbf_h" in hours:
        _check_often(hours["mtbf_h"], f"{place}.mtbf_h")
    return FailureGroup(name=name, brokers=tuple(cast("list[int]", ids)), kind=kind, **hours)


def _calendars(told: Any) -> Iterator[Calendar]:
    if not isinstance(told, list):
        raise AssumptionError("maintenance: write [[maintenance]], a table for each calendar")
    for number, each in enumerate(cast("list[Any]", told), start=1):
        place = f"maintenance {number}"
        table = _table(each, place)
        _check_keys(table, ("every_d", "min_per_broker", "wait_for_isr", "polite"), place, "key")
        every_d = _number(table.get("every_d"), f"{place}.every_d")
        if every_d < 1:
            raise AssumptionError(f"{place}.every_d: {every_d:g} days between restarts; write 1 or more")
        yield Calendar(
            every_d=every_d,
            min_per_broker=_number(table.get("min_per_broker", 3), f"{place}.min_per_broker"),
            wait_for_isr=_flag(table.get("wait_for_isr", True), f"{place}.wait_for_isr"),
            polite=_flag(table.get("polite", True), f"{place}.polite"),
        )


def _overrides(table: Mapping[str, Any]) -> dict[int, float]:
    _check_keys(table, ("broker",), "overrides", "key")
    found: dict[int, float] = {}
    for name, told in _table(table.get("broker", {}), "overrides.broker").items():
        place = f"overrides.broker.{name}"
        if not (name.isascii() and name.isdigit() and len(name) < 11):
            raise AssumptionError(f"{place}: no id of a broker")
        each = _table(told, place)
        _check_keys(each, ("mtbf_h",), place, "key")
        found[int(name)] = _number(each.get("mtbf_h"), f"{place}.mtbf_h")
        _check_often(found[int(name)], f"{place}.mtbf_h")
    return found


def _flag(told: Any, place: str) -> bool:
    if not isinstance(told, bool):
        raise AssumptionError(f"{place}: {told!r} is neither true nor false")
    return told


def _table(told: Any, place: str) -> dict[str, Any]:
    if not isinstance(told, dict):
        raise AssumptionError(f"{place}: no table")
    return cast("dict[str, Any]", told)


def _check_keys(table: Collection[str], known: Collection[str], place: str, what: str) -> None:
    for key in table:
        if key not in known:
            raise AssumptionError(f"{place}{'.' if place else ''}{key}: no such {what}{_near(key, known)}")


def _near(key: str, known: Collection[str]) -> str:
    near = get_close_matches(key, known, 1, 0.5)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"


def check(assumed: Assumptions, brokers: Sequence[int], told: Callable[[str], object]) -> None:
    """Whether it fits a cluster of these brokers; `told` hears what is odd. Raises AssumptionError."""
    for group in assumed.groups:
        for broker in group.brokers:
            if broker not in brokers:
                raise AssumptionError(f"groups.{group.name}: broker {broker} is not in this cluster ({_span(brokers)})")
    for broker in assumed.mtbf_h:
        if broker not in brokers:
            raise AssumptionError(f"overrides.broker.{broker}: it is not in this cluster ({_span(brokers)})")
    for name in ("broker", "rack", "power", "zone"):
        down = f"{name}.mttr_min" if name == "broker" else f"{name}.mttr_h"
        hours = assumed[down] / (60 if name == "broker" else 1)
        if hours >= assumed[f"{name}.mtbf_h"] / 2:
            told(f"rates.{down}: {hours:g} h down for {assumed[f'{name}.mtbf_h']:g} h between failures: mostly down")
    if assumed.rejoin_s is None and assumed["rereplicate.MBps"] <= assumed["ingress.MBps"]:
        told("rates.rereplicate.MBps is not above rates.ingress.MBps: a broker that was out would never catch up")


def _span(brokers: Sequence[int]) -> str:
    ids = sorted(brokers)
    every = len(ids) > 1 and ids == list(range(ids[0], ids[-1] + 1))
    return f"{ids[0]}-{ids[-1]}" if every else ", ".join(map(str, ids[:20]))


def learnt(usual: Rate, events: int, exposure_h: float, source: str) -> Rate:
    """A time between failures from so many in so many hours: one outage's worth of belief stays in the usual one."""
    value = (exposure_h + usual.value) / (events + 1)
    return Rate(key=usual.key, value=value, low=usual.low, high=max(usual.high, value), source=source, given=True)
