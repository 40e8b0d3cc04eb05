"""A folder that does not outlive this process, whatever ends this one. It knows nothing of what is in it.

As with `guarded_process` a small shell waits at a pipe that only this process holds, or shares with a child. It is
there before the folder is.
"""

import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

# $1 the folder. Whoever else uses it is ended by a guard of its own at the same moment, or ends by itself soon.
GUARD = """
trap '' HUP INT TERM
read -r _
tries=0
while [ $tries -lt 100 ]; do
    sleep 0.3
    rm -rf "$1" && exit
    tries=$((tries + 1))
done
"""


class GuardedFolder:
    """Guarded as soon as there is the object; made by its user. One thread at a time."""

    def __init__(self, path: Path, pass_fds: Sequence[int] = ()) -> None:
        """`pass_fds` are held by the shell as well, so that a lock lasts until the folder is gone. Raises OSError."""
        self.path = path
        self._guard = subprocess.Popen(
            ["/bin/sh", "-c", GUARD, "sh", str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            pass_fds=pass_fds,
            start_new_session=True,  # the terminal's Ctrl+C is for the dashboard only
        )

    @property
    def pipe(self) -> int:
        """For a child that would make the folder again: while it holds this, too, the folder is not yet removed."""
        assert self._guard.stdin is not None
        return self._guard.stdin.fileno()

    def remove(self) -> None:
        """Remove the folder, and let go of the shell, which goes on where this did not work. Once more does nothing."""
        shutil.rmtree(self.path, ignore_errors=True)
        if not self.path.exists():
            self._guard.kill()
        assert self._guard.stdin is not None
        self._guard.stdin.close()
        if not self.path.exists():
            self._guard.wait()


def temporary_folder(prefix: str) -> GuardedFolder:
    """A new one of our own, where the system keeps what is temporary. Raises OSError."""
    folder = GuardedFolder(Path(tempfile.gettempdir()) / f"{prefix}{secrets.token_hex(6)}")
    folder.path.mkdir(mode=0o700)
    return folder
