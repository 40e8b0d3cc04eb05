"""A drill of a sandbox as a file: TOML, read into values and written again. Nothing is played here.

    name = "the leader of orders-0 dies"

    [sandbox]                     # as the options of kdrill sandbox, which win over these
    brokers = 3
    load = true

    [[steps]]
    at_s = 5                      # seconds after every broker serves; steps keep their order
    do = "kill"
    broker = "leader of orders-0" # or an id, or "controller": in KRaft mode (mode = "kraft") the active one

    [[steps]]
    at_s = 6
    expect = "led"
    within_s = 15                 # how long it may take to become true

    [[steps]]
    at_s = 20
    do = "undo-all"

    [[steps]]
    at_s = 21
    expect = "in-sync"

    [[steps]]
    at_s = 25
    expect = "none-lost"

What can be done (`do`), with its fields:

    kill, terminate, start, pause, resume            broker; in KRaft mode a controller, too: 101, 102 …
    expire                                           broker; with ZooKeeper
    kill-controller                                  step = "elected" | "loaded" | "written" | "told", or none, as
                                                     in KRaft mode
    cut, heal                                        between = ["1", "zookeeper"]: broker ids, "zookeeper", "clients",
                                                     or a member of a ZooKeeper group: "reports/z1"; in KRaft mode
                                                     "controllers", and controllers' ids: ["101", "controllers"]
    slow                                             between, delay_ms
    kill-zookeeper, start-zookeeper                  server; with ZooKeeper
    fill-log-dir, free-log-dir                       broker; limit_bytes, or what the folder holds now
    corrupt, restore                                 broker, partition = "orders-0"; segment = "last" | "oldest"
    stop-consumer, start-consumer                    group, member; a new member, too, of the ZooKeeper groups "reports"
                                                     (kdrill's consumers) and "legacy" (those of Kafka 0.8.2.2);
                                                     in KRaft mode "reports" is another group of consumers like those
                                                     of "billing", r1 and r2
    set-rate                                         rate, in records a second
    undo, undo-all                                   number of the fault, or the last one

What can be expected (`expect`), each `within_s` (30 if not said):

    led                 every partition has a leader, and that one's process runs
    in-sync             every replica of every partition is in its ISR, and its broker's process runs, for a second
    controller          there is a controller whose process runs; `moved = true`: another one than before the last fault
    offline             `partition` has no leader
    leader              `partition` is led by `broker`; `moved = true`: by another one than before the last fault
    flowing             the load's records are acknowledged again
    all-rebalanced      all members of `group` (this and the next three: a ZooKeeper group) that hear of changes stopped
                        and claimed anew since the last fault
    owned-twice         two members of `group` read one partition
    owned-once          no partition of `group` is read by two, each is owned, and nobody has given up
    gave-up             a member of `group` has used up the tries of its rebalance
    isr-shrunk          a leader let a follower that lives leave the ISR, since the last fault
    isr-kept            none did, in all of `within_s`
    none-lost           every acknowledged record is in the log, once and in order; the load stops for good
    some-lost           at least one acknowledged record is lost; the load stops for good

These come with kdrill and are played by their names, as --scenario split-brain. The last one is played in both modes,
the others with ZooKeeper:

    herd-effect        every change makes all members of a ZooKeeper group stop and claim anew
    split-brain        a member that cannot hear of the end of its session reads what is another's
    failed-rebalance   a member gives up after four tries, for another one was not told to let go
    isr-by-messages    a burst shrinks an ISR by replica.lag.max.messages, though nobody is slow
    isr-by-time        the same burst shrinks none by replica.lag.time.max.ms
"""

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from model.cluster.whole_file import read_text
from model.sandbox import faults
from model.sandbox.faults import Deed
from model.sandbox.messages import AuditReport
from model.sandbox.options import Mode, SandboxOptions
from model.sandbox.processes import SandboxError

WITHIN_S = 30.0


class Expectation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to become true."""

    expect: Literal[
        "led", "in-sync", "controller", "offline", "leader", "flowing", "none-lost", "some-lost",
        "all-rebalanced", "owned-twice", "owned-once", "gave-up", "isr-shrunk", "isr-kept",
    ]  # fmt: skip
    within_s: float = WITHIN_S
    partition: str = ""
    broker: int | None = None
    group: str = ""
    moved: bool = False

    def __str__(self) -> str:
        """As the file has it, and shorter."""
        broker = "" if self.broker is None else f"broker {self.broker}"
        details = (self.partition, broker, self.group, "moved" if self.moved else "")
        return " ".join(filter(None, (self.expect, *details)))


class ScenarioStep(msgspec.Struct, frozen=True):
    """One deed or one expectation, so many seconds after everything serves."""

    at_s: float
    what: Deed | Expectation


class SandboxScenario(msgspec.Struct, frozen=True, kw_only=True):
    """A drill. `sandbox` has options by their names on the command line."""

    name: str = ""
    sandbox: Mapping[str, Any] = {}
    steps: tuple[ScenarioStep, ...] = ()


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str = ""
    sandbox: dict[str, Any] = {}
    steps: list[dict[str, Any]] = []


OPTIONS: Mapping[str, Any] = {
    "mode": Mode, "brokers": int, "racks": int, "zookeepers": Literal[1, 3], "controllers": Literal[1, 3, 5],
    "topics": int, "partitions": int,
    "load": bool, "rate": float, "old_consumers": int, "set": dict[str, str],
}  # fmt: skip
"""What `[sandbox]` may say."""


SHIPPED = Path(__file__).with_name("scenarios")


def read_scenario(path: Path) -> SandboxScenario:
    """A scenario from a file, or one of those that come with kdrill, by its name alone: `split-brain`.

    Raises SandboxError: one line with the file, the step and what is wrong with it.
    """
    shipped = SHIPPED / f"{path.name}.toml"
    if path.parent == Path() and not path.exists() and shipped.is_file():
        path = shipped
    try:
        text = read_text(path, only_file=True)
    except (OSError, UnicodeDecodeError) as error:
        raise SandboxError(f"{path}: {getattr(error, 'strerror', None) or 'this is not UTF-8'}") from None
    try:
        return parse_scenario(text)
    except SandboxError as error:
        raise SandboxError(f"{path}: {error}; see kdrill sandbox --help-scenario") from None


def parse_scenario(text: str) -> SandboxScenario:
    """A scenario from its text. Raises SandboxError."""
    try:
        file = msgspec.convert(tomllib.loads(text, parse_float=_finite), _File)
    except (ValueError, RecursionError) as error:
        raise SandboxError(f"this is no scenario: {error}") from None
    for name, value in file.sandbox.items():
        if name not in OPTIONS:
            raise SandboxError(f"[sandbox] has {name!r}; it may have {', '.join(OPTIONS)}")
        try:
            msgspec.convert(value, OPTIONS[name])
        except msgspec.ValidationError as error:
            raise SandboxError(f"[sandbox] {name}: {error}") from None
    if not file.steps:
        raise SandboxError("there are no [[steps]]")
    return SandboxScenario(
        name=file.name,
        sandbox=file.sandbox,
        steps=tuple(_step(number, values) for number, values in enumerate(file.steps, 1)),
    )


def check_mode(scenario: SandboxScenario, mode: Mode) -> None:
    """Raises SandboxError for a step that means nothing in this mode: one line that names it."""
    if mode == "kraft":
        for number, step in enumerate(scenario.steps, 1):
            if word := _of_zookeeper(step.what):
                raise SandboxError(
                    f"{scenario.name!r} is for ZooKeeper alone: step {number}, {word}, means nothing in KRaft mode"
                )


def _of_zookeeper(what: Deed | Expectation) -> str:
    """What a step needs ZooKeeper for; empty where it needs none."""
    match what:
        case Expectation(expect=expect, group=group):
            return expect if group else ""
        case faults.ExpireSession() | faults.KillZooKeeper() | faults.StartZooKeeper():
            return str(msgspec.to_builtins(what)["do"])
        case faults.KillController(step) if step:
            return f"kill-controller at {step}"
        case faults.CutLink(between) | faults.SlowLink(between) | faults.HealLink(between):
            return next((f"the link of {place}" for place in between if place == "zookeeper" or "/" in place), "")
        case _:
            return ""


def _finite(text: str) -> float:
    """A number of the file; TOML has infinity and NaN, too, which no step waits for."""
    if not math.isfinite(number := float(text)):
        raise ValueError(f"{text[:40]} is no number to count with")
    return number


def _step(number: int, values: Mapping[str, Any]) -> ScenarioStep:
    rest = dict(values)
    try:
        at_s = msgspec.convert(rest.pop("at_s", 0.0), float)
        if ("do" in rest) == ("expect" in rest):
            raise SandboxError(f"step {number} needs either do or expect")
        shape: Any = Deed if "do" in rest else Expectation
        return ScenarioStep(at_s, msgspec.convert(rest, shape))
    except msgspec.ValidationError as error:
        raise SandboxError(f"step {number}: {error}") from None


class ScenarioStepOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One step."""

    step: int
    at_s: float
    """When it was begun, in seconds after everything served."""
    took_s: float
    passed: bool
    text: str


class SandboxOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """All of it; the line that a headless run ends with."""

    format: str = "kdrill.scenario/1"
    name: str
    passed: bool
    steps: tuple[ScenarioStepOutcome, ...]
    audit: AuditReport | None = None


def scenario_text(scenario: SandboxScenario) -> str:
    """TOML."""
    lines = [f"name = {_value(scenario.name)}", ""]
    if scenario.sandbox:
        lines += ["[sandbox]", *_lines(dict(scenario.sandbox)), ""]
    for step in scenario.steps:
        values = msgspec.to_builtins(step.what)
        lines += ["[[steps]]", f"at_s = {_value(step.at_s)}", *_lines(values), ""]
    return "\n".join(lines)


def _lines(values: dict[str, Any]) -> list[str]:
    return [f"{name} = {_value(value)}" for name, value in values.items() if value is not None]


def _value(value: Any) -> str:
    """JSON's strings, numbers and lists are TOML's too, but for DEL; tables are not."""
    if isinstance(value, dict):
        inner = (f"{_value(name)} = {_value(each)}" for name, each in cast("dict[str, Any]", value).items())
        return f"{{{', '.join(inner)}}}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def session_text(options: SandboxOptions, history: Sequence[tuple[int, Deed]], ready_ms: int) -> str:
    """The deeds at their times after `ready_ms`; at the end every partition is to have a leader, and no record lost."""
    steps = [ScenarioStep(round(max(at_ms - ready_ms, 0) / 1000, 1), deed) for at_ms, deed in history]
    end_s = steps[-1].at_s + 1 if steps else 0.0
    steps.append(ScenarioStep(end_s, Expectation(expect="led")))
    if options.load:
        steps.append(ScenarioStep(end_s, Expectation(expect="none-lost")))
    return scenario_text(SandboxScenario(name="a saved session", sandbox=_option_table(options), steps=tuple(steps)))


def _option_table(options: SandboxOptions) -> dict[str, Any]:
    defaults = SandboxOptions()
    names = [name for name in OPTIONS if name != "set"]
    table = {name: getattr(options, name) for name in names if getattr(options, name) != getattr(defaults, name)}
    return {**table, **({"set": dict(options.settings)} if options.settings else {})}
