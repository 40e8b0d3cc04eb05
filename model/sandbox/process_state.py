"""What the system says a process is doing. Linux says it in /proc, other systems through `ps`."""

import subprocess
from pathlib import Path

GONE = ""
STOPPED = "T"
ZOMBIE = "Z"
"""It has ended, and only waits to be asked how."""


def process_state(pid: int) -> str:
    """The letter `ps` shows for it: R, S, D, T, Z …, or GONE."""
    if not Path("/proc/self/stat").exists():
        command = ["ps", "-o", "stat=", "-p", str(pid)]
        return subprocess.run(command, capture_output=True, check=False, text=True).stdout.strip()[:1]
    try:
        # "123 (any name) S 1 …": a name may hold spaces and brackets.
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(") ")[2][:1]
    except OSError:
        return GONE
