"""What the doctor says of the terminal: what it can draw, and what stands between it and kdrill."""

import shutil
import sys
from collections.abc import Iterator

from tui.command_line.doctor_fact import Fact, Machine

RICH = ("truecolor", "24bit")
LEAST = (60, 16)
"""As in tui.panes.too_small, which draws."""


def terminal_facts(machine: Machine) -> Iterator[Fact]:
    """Cursor, size, colours, letters."""
    term = machine.environment.get("TERM", "")
    columns, rows = shutil.get_terminal_size()
    if term in ("", "dumb"):
        text = f"TERM is {term or 'not set'}: the dashboard needs one that can move the cursor"
        yield Fact("terminal", "missing" if sys.stdout.isatty() else "note", text, "export TERM=xterm-256color")
    elif not sys.stdout.isatty():
        yield Fact("terminal", "note", "standard output is not a terminal: the dashboard needs one")
    else:
        enough = columns >= LEAST[0] and rows >= LEAST[1]
        too_small = "" if enough else f": make it {LEAST[0]}x{LEAST[1]} at least"
        yield Fact("terminal", "ok" if enough else "note", f"{term}, {columns}x{rows}{too_small}")
    yield _colour(machine)
    yield _letters(machine)


def _colour(machine: Machine) -> Fact:
    if machine.environment.get("NO_COLOR"):
        return Fact("colour", "ok", "none (NO_COLOR is set)")
    if machine.environment.get("COLORTERM") in RICH:
        return Fact("colour", "ok", "24-bit")
    return Fact("colour", "ok", "256 or fewer; if the terminal has 24 bits: export COLORTERM=truecolor")


def _letters(machine: Machine) -> Fact:
    """Python writes UTF-8 in the C locale, too; what the terminal makes of it, only the locale tells."""
    encoding = sys.stdout.encoding or "unknown"
    if not encoding.lower().startswith("utf"):
        return Fact("encoding", "note", f"{encoding}: lines are drawn with --ascii", "export PYTHONUTF8=1")
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        if locale := machine.environment.get(name):
            if "utf" in locale.lower():
                return Fact("encoding", "ok", f"{encoding} ({name}={locale})")
            text = f"{name} is {locale}: if lines come out as other letters, use --ascii, or say that it knows UTF-8"
            return Fact("encoding", "note", text, f"export {name}=C.UTF-8")
    return Fact(
        "encoding", "note", "no locale is set: if lines come out as other letters, use --ascii", "export LANG=C.UTF-8"
    )


def between_facts(machine: Machine) -> Iterator[Fact]:
    """A multiplexer, a remote shell."""
    if machine.environment.get("TMUX"):
        yield Fact(
            "tmux", "note", "esc waits as long as tmux has it wait; less is quicker", "tmux set -s escape-time 10"
        )
    if machine.environment.get("SSH_CONNECTION"):
        yield Fact("ssh", "ok", "y copies to your own clipboard if your terminal takes OSC 52; e writes a file instead")
