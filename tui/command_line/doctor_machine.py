"""What the doctor says of the machine itself: memory, files, loopback, clock, and where kdrill keeps things."""

import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path

from model.sandbox.errors import SandboxError
from model.sandbox.ports import LOOPBACK, free_port
from tui.command_line.doctor_fact import Fact, Machine
from tui.remembered import is_writable, state_folder

OLDEST_PYTHON = (3, 11)
ENOUGH_MEMORY = 3 << 29
"""Bytes: the sandbox takes some 400 MiB, Spark on this machine a GiB."""
ENOUGH_DISK = 1 << 30
ENOUGH_FILES = 1_024
A_DAY_S = 86_400
CGROUP = Path("/sys/fs/cgroup")


def python_facts(_: Machine) -> Iterator[Fact]:
    """The interpreter that kdrill runs in."""
    found = ".".join(map(str, sys.version_info[:3]))
    is_enough = sys.version_info >= OLDEST_PYTHON
    yield Fact(
        "Python",
        "ok" if is_enough else "missing",
        f"{found} at {sys.executable}" + ("" if is_enough else "; 3.11 or newer is needed"),
        "" if is_enough else "uv venv --python 3.13",
    )


def resource_facts(machine: Machine) -> Iterator[Fact]:
    """What processes get of the machine."""
    if free := free_memory():
        few = free < ENOUGH_MEMORY
        text = f"{free >> 20:,} MiB free" + ("; the sandbox takes some 400 MiB, Spark 1 GiB" if few else "")
        yield Fact("memory", "note" if few else "ok", text, "export KDRILL_SPARK_MASTER=off" if few else "")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = soft != resource.RLIM_INFINITY and soft < ENOUGH_FILES
    most = 4_096 if hard == resource.RLIM_INFINITY else min(hard, 4_096)
    said = (
        "no limit" if soft == resource.RLIM_INFINITY else f"{soft:,} at a time" + (", few for a sandbox" if few else "")
    )
    yield Fact("open files", "note" if few else "ok", said, f"ulimit -n {most}" if few else "")
    try:
        free_port(0)
        yield Fact("loopback", "ok", LOOPBACK)
    except SandboxError as error:
        up = "sudo ifconfig lo0 up" if machine.system == "darwin" else "sudo ip link set lo up"
        yield Fact("loopback", "missing", f"no port of {LOOPBACK} is to be had, as the sandbox needs: {error}", up)
    yield from _clock(machine)


def free_memory() -> int:
    """Bytes that may still be taken, of the machine or of this container; 0 where that is not told."""
    room: list[int] = []
    with suppress(OSError, ValueError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        room += [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
    with suppress(OSError, ValueError):  # `max`: no limit
        room.append(int((CGROUP / "memory.max").read_text()) - int((CGROUP / "memory.current").read_text()))
    return max(min(room, default=0), 0)


def _clock(machine: Machine) -> Iterator[Fact]:
    now_s = time.time()
    said = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now_s))
    if now_s >= Path(__file__).stat().st_mtime - A_DAY_S:
        yield Fact("clock", "ok", said)
    else:
        right = "sudo sntp -sS time.apple.com" if machine.system == "darwin" else "sudo timedatectl set-ntp true"
        yield Fact("clock", "note", f"{said}, which is before kdrill came here: certificates will be refused", right)


def folder_facts(machine: Machine) -> Iterator[Fact]:
    """Where kdrill writes: its sandboxes, what it remembers, what it need not do twice."""
    elsewhere = 'mkdir -p "$HOME/tmp" && export TMPDIR="$HOME/tmp"'
    try:
        scratch = tempfile.gettempdir()
    except FileNotFoundError:
        yield Fact(
            "scratch", "missing", "no folder for temporary files can be written, as the sandbox needs", elsewhere
        )
    else:
        free = shutil.disk_usage(scratch).free
        text = f"{scratch}, {free >> 20:,} MiB free"
        wanted = machine.environment.get("TMPDIR", "")
        if wanted and not is_writable(Path(wanted)):
            yield Fact("scratch", "note", f"TMPDIR is {wanted}, which cannot be written: {text}", "unset TMPDIR")
        elif free < ENOUGH_DISK:
            yield Fact("scratch", "note", f"{text}, little for a sandbox's logs", elsewhere)
        else:
            yield Fact("scratch", "ok", text)
    yield _folder("cache", user_cache_path("kdrill"), "XDG_CACHE_HOME", "what makes Java start in half the time")
    kept = "screens, filters, views and the theme of last time, and what was done to clusters"
    yield _folder("state", state_folder(), "XDG_STATE_HOME", kept)


def _folder(name: str, folder: Path, variable: str, what: str) -> Fact:
    if is_writable(folder):
        return Fact(name, "ok", f"{folder}: {what}")
    return Fact(name, "note", f"{folder} cannot be written: {what} is not kept", f'export {variable}="$(mktemp -d)"')
