"""A session's deeds as a scenario, to be played again. Pure."""

from collections.abc import Sequence
from typing import Any

from model.sandbox.cluster.options import SandboxOptions
from model.sandbox.faults.faults import Deed
from model.sandbox.scenarios.scenario import Expectation, Scenario, Step
from model.sandbox.scenarios.writing import scenario_text


def session_text(options: SandboxOptions, history: Sequence[tuple[int, Deed]], ready_ms: int) -> str:
    """The deeds at their times after `ready_ms`; at the end every partition is to have a leader, and no record lost."""
    steps = [Step(round(max(at_ms - ready_ms, 0) / 1000, 1), deed) for at_ms, deed in history]
    end_s = steps[-1].at_s + 1 if steps else 0.0
    steps.append(Step(end_s, Expectation(expect="led")))
    if options.load:
        steps.append(Step(end_s, Expectation(expect="none-lost")))
    return scenario_text(Scenario(name="a saved session", sandbox=_table(options), steps=tuple(steps)))


def _table(options: SandboxOptions) -> dict[str, Any]:
    defaults = SandboxOptions()
    names = ("brokers", "racks", "zookeepers", "topics", "partitions", "load", "rate")
    table = {name: getattr(options, name) for name in names if getattr(options, name) != getattr(defaults, name)}
    return {**table, **({"set": dict(options.settings)} if options.settings else {})}
