"""A scenario's values as the text of a file that reads back the same. Writes no file."""

import json
from typing import Any, cast

import msgspec

from model.sandbox.scenarios.scenario import Scenario


def scenario_text(scenario: Scenario) -> str:
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
