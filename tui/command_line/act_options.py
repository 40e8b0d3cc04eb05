"""The options of every command that does something to a cluster, and their meaning."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click
import msgspec

Command = Callable[..., Any]


class ActOptions(msgspec.Struct, frozen=True):
    """Whether a proposal may be carried out, whether it is asked about, and how it is told."""

    allow_writes: bool = False
    yes: bool = False
    as_json: bool = False


def takes_act_options(command: Command) -> Command:
    """The command gets them as `act`."""

    @click.option("--allow-writes", is_flag=True, help="do it; without, it is only shown what would be done")
    @click.option("--yes", is_flag=True, help="do not ask")
    @click.option("--json", "as_json", is_flag=True, help="print a kdrill.act/1 document")
    @wraps(command)
    def with_act_options(allow_writes: bool, yes: bool, as_json: bool, **others: Any) -> Any:
        return command(act=ActOptions(allow_writes, yes, as_json), **others)

    return with_act_options
