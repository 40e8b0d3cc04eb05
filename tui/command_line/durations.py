"""Durations as options have them: `90s`, `10m`, `2h`, `7d`."""

import re
from typing import Any, Final

import click

_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}


class Duration(click.ParamType):
    """A number and a unit → seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Raises click.BadParameter."""
        match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)", str(value))
        if match is None or not float(match[1]):
            self.fail(f"{value!r} is no duration: write 30s, 10m, 2h or 7d", param, ctx)
        return float(match[1]) * _UNITS[match[2]]
