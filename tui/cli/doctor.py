"""`kdrill doctor`: what this machine has of what kdrill needs, what is missing, and the command that mends it.

Here it looks at the machine itself (memory, files, loopback, clock, where kdrill keeps things) and at the terminal.
"""

import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import click
import msgspec
from platformdirs import user_cache_path

from model.cluster.texts import visible_json
from model.sandbox.processes import LOOPBACK, SandboxError, free_port
from tui.cli.doctor_programs import DoctorFact, Look, Machine, facts_for_tests, java_facts, this_machine
from tui.cli.options import common_options
from tui.engine.config import Config
from tui.engine.keymap import remapped
from tui.engine.remembered import is_writable, state_folder

OLDEST_PYTHON = (3, 11)
ENOUGH_MEMORY = 3 << 29
"""Bytes: the sandbox takes some 400 MiB, Spark on this machine a GiB."""
ENOUGH_DISK = 1 << 30
ENOUGH_FILES = 1_024
A_DAY_S = 86_400
CGROUP = Path("/sys/fs/cgroup")


def python_facts(_: Machine) -> Iterator[DoctorFact]:
    """The interpreter that kdrill runs in."""
    found = ".".join(map(str, sys.version_info[:3]))
    is_enough = sys.version_info >= OLDEST_PYTHON
    yield DoctorFact(
        "Python",
        "ok" if is_enough else "missing",
        f"{found} at {sys.executable}" + ("" if is_enough else "; 3.11 or newer is needed"),
        "" if is_enough else "uv venv --python 3.13",
    )


def resource_facts(machine: Machine) -> Iterator[DoctorFact]:
    """Memory, open files, loopback and clock."""
    if free := free_memory():
        few = free < ENOUGH_MEMORY
        text = f"{free >> 20:,} MiB free" + ("; the sandbox needs about 400 MiB, Spark 1 GiB" if few else "")
        yield DoctorFact("memory", "note" if few else "ok", text, "export KDRILL_SPARK_MASTER=off" if few else "")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = soft != resource.RLIM_INFINITY and soft < ENOUGH_FILES
    most = 4_096 if hard == resource.RLIM_INFINITY else min(hard, 4_096)
    said = (
        "no limit"
        if soft == resource.RLIM_INFINITY
        else f"{soft:,} at a time" + (", too few for a large sandbox" if few else "")
    )
    yield DoctorFact("open files", "note" if few else "ok", said, f"ulimit -n {most}" if few else "")
    try:
        free_port(0)
        yield DoctorFact("loopback", "ok", LOOPBACK)
    except SandboxError as error:
        up = "sudo ifconfig lo0 up" if machine.system == "darwin" else "sudo ip link set lo up"
        yield DoctorFact("loopback", "missing", f"cannot listen on {LOOPBACK}, which the sandbox needs: {error}", up)
    yield from _clock(machine)


def free_memory() -> int:
    """Bytes of memory still free on this machine or in this container; 0 if unknown."""
    room: list[int] = []
    with suppress(OSError, ValueError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        room += [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
    with suppress(OSError, ValueError):  # `max`: no limit
        room.append(int((CGROUP / "memory.max").read_text()) - int((CGROUP / "memory.current").read_text()))
    return max(min(room, default=0), 0)


def _clock(machine: Machine) -> Iterator[DoctorFact]:
    now_s = time.time()
    said = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now_s))
    if now_s >= Path(__file__).stat().st_mtime - A_DAY_S:
        yield DoctorFact("clock", "ok", said)
    else:
        right = "sudo sntp -sS time.apple.com" if machine.system == "darwin" else "sudo timedatectl set-ntp true"
        yield DoctorFact(
            "clock", "note", f"{said}, which is before kdrill was installed: certificates will be refused", right
        )


def folder_facts(machine: Machine) -> Iterator[DoctorFact]:
    """The folders kdrill writes to: scratch, cache and state."""
    elsewhere = 'mkdir -p "$HOME/tmp" && export TMPDIR="$HOME/tmp"'
    try:
        scratch = tempfile.gettempdir()
    except FileNotFoundError:
        yield DoctorFact(
            "scratch", "missing", "no folder for temporary files is writable, which the sandbox needs", elsewhere
        )
    else:
        free = shutil.disk_usage(scratch).free
        text = f"{scratch}, {free >> 20:,} MiB free"
        wanted = machine.environment.get("TMPDIR", "")
        if wanted and not is_writable(Path(wanted)):
            yield DoctorFact("scratch", "note", f"TMPDIR is {wanted}, which cannot be written: {text}", "unset TMPDIR")
        elif free < ENOUGH_DISK:
            yield DoctorFact("scratch", "note", f"{text}: little for a sandbox's logs", elsewhere)
        else:
            yield DoctorFact("scratch", "ok", text)
    yield _folder("cache", user_cache_path("kdrill"), "XDG_CACHE_HOME", "lets Java start in half the time")
    kept = "screens, filters, views and the theme of last time, and the log of actions"
    yield _folder("state", state_folder(), "XDG_STATE_HOME", kept)


def _folder(name: str, folder: Path, variable: str, what: str) -> DoctorFact:
    if is_writable(folder):
        return DoctorFact(name, "ok", f"{folder}: {what}")
    return DoctorFact(
        name, "note", f"{folder} is not writable, so this is not kept: {what}", f'export {variable}="$(mktemp -d)"'
    )


RICH = ("truecolor", "24bit")
LEAST = (60, 16)
"""As in tui.app.screens.page, which draws."""


def terminal_facts(machine: Machine) -> Iterator[DoctorFact]:
    """The terminal: cursor, size, colours, encoding."""
    term = machine.environment.get("TERM", "")
    columns, rows = shutil.get_terminal_size()
    if term in ("", "dumb"):
        text = f"TERM is {term or 'not set'}: the dashboard needs one that can move the cursor"
        yield DoctorFact("terminal", "missing" if sys.stdout.isatty() else "note", text, "export TERM=xterm-256color")
    elif not sys.stdout.isatty():
        yield DoctorFact("terminal", "note", "standard output is not a terminal: the dashboard needs one")
    else:
        enough = columns >= LEAST[0] and rows >= LEAST[1]
        too_small = "" if enough else f": make it {LEAST[0]}x{LEAST[1]} at least"
        yield DoctorFact("terminal", "ok" if enough else "note", f"{term}, {columns}x{rows}{too_small}")
    yield _colour(machine)
    yield _letters(machine)


def _colour(machine: Machine) -> DoctorFact:
    if machine.environment.get("NO_COLOR"):
        return DoctorFact("colour", "ok", "none (NO_COLOR is set)")
    if machine.environment.get("COLORTERM") in RICH:
        return DoctorFact("colour", "ok", "24-bit")
    return DoctorFact("colour", "ok", "256 or fewer; if the terminal has 24 bits: export COLORTERM=truecolor")


def _letters(machine: Machine) -> DoctorFact:
    """Python writes UTF-8 in the C locale, too; what the terminal makes of it, only the locale tells."""
    encoding = sys.stdout.encoding or "unknown"
    if not encoding.lower().startswith("utf"):
        return DoctorFact("encoding", "note", f"{encoding}: lines are drawn with --ascii", "export PYTHONUTF8=1")
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        if locale := machine.environment.get(name):
            if "utf" in locale.lower():
                return DoctorFact("encoding", "ok", f"{encoding} ({name}={locale})")
            text = f"{name} is {locale}: if lines look like other characters, use --ascii, or set a UTF-8 locale"
            return DoctorFact("encoding", "note", text, f"export {name}=C.UTF-8")
    return DoctorFact(
        "encoding", "note", "no locale is set: if lines look like other characters, use --ascii", "export LANG=C.UTF-8"
    )


def between_facts(machine: Machine) -> Iterator[DoctorFact]:
    """What lies between kdrill and the terminal: tmux, ssh."""
    if machine.environment.get("TMUX"):
        yield DoctorFact("tmux", "note", "esc waits as long as tmux does; shorten that", "tmux set -s escape-time 10")
    if machine.environment.get("SSH_CONNECTION"):
        yield DoctorFact(
            "ssh", "ok", "y copies to your own clipboard if your terminal takes OSC 52; e writes a file instead"
        )


FORMAT = "kdrill.doctor/1"
SIGNS = {"ok": "ok", "missing": "X", "note": "~"}
LOOKS: tuple[Look, ...] = (
    python_facts,
    java_facts,
    resource_facts,
    folder_facts,
    terminal_facts,
    between_facts,
    facts_for_tests,
)


@click.command()
@common_options
@click.option("--json", "as_json", is_flag=True, help="one kdrill.doctor/1 object")
def doctor(config: Config, as_json: bool) -> int:
    """What this machine has, what is missing, and the command that installs it. Exits 1 if something is missing.

    ok: present; ~: good to know; X: something will not work. The line below ~ and X is what to type.

    \b
    Example: kdrill doctor
    """
    machine = this_machine()
    facts = [*(fact for look in LOOKS for fact in look(machine)), _config(config)]
    if as_json:
        document = {"format": FORMAT, "facts": [fact._asdict() for fact in facts]}
        click.echo(visible_json(msgspec.json.encode(document)))
    else:
        for fact in facts:
            click.echo(f"{SIGNS[fact.state]:3}{fact.name:12}{_visible(fact.text)}")
            if fact.mend:
                click.echo(f"{'':15}{_visible(fact.mend)}")
    return int(any(fact.state == "missing" for fact in facts))


def _config(config: Config) -> DoctorFact:
    if not config.path.exists():
        return DoctorFact("config", "note", f"none at {config.path}")
    remapped(config)
    return DoctorFact("config", "ok", f"{config.path}: {', '.join(config.clusters) or 'no clusters'}")


def _visible(text: str) -> str:
    """Fit to print. Folder names may hold anything, and the package that escapes them may be missing."""
    if text.isascii() and text.isprintable():
        return text
    from tui.engine.text import plain  # noqa: PLC0415

    return plain(text)
