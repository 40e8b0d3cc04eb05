"""What the doctor finds, and the machine that it looks at, as values."""

import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

import msgspec


class Fact(NamedTuple):
    """One thing looked at: `state` is ok, missing (something will not work) or note (good to know)."""

    name: str
    state: str
    text: str
    mend: str = ""
    """A command for the shell that mends it; empty where none is known, or nothing is to be mended."""


class Machine(msgspec.Struct, frozen=True):
    """What decides which command mends a thing. `system` is as in sys.platform, `release` the fields of os-release."""

    environment: Mapping[str, str]
    system: str = "linux"
    release: Mapping[str, str] = {}
    is_root: bool = False


Look = Callable[[Machine], Iterator[Fact]]


def this_machine() -> Machine:
    """The one that we run on."""
    release: dict[str, str] = {}
    with suppress(OSError):
        release = platform.freedesktop_os_release()
    return Machine(os.environ, sys.platform, release, os.geteuid() == 0)
