"""A process that can't outlive this one, whatever ends this one. It knows nothing of what it runs.

A small shell stands between: it holds the reading end of a pipe whose writing end only this process holds. When this
process ends, even by SIGKILL, the kernel closes the pipe, and the shell kills its child within milliseconds.
(PR_SET_PDEATHSIG is no way: it fires when the *thread* that started the child ends.)
A child made by `os.fork` without exec shares the writing end: start such children before, or with spawn.
"""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from model.sandbox.errors import SandboxError
from model.sandbox.process_state import STOPPED, process_state

# $1 log file, then the command.
# The reader is a shell of its own, so that the child dies even if the first shell was killed; once it acts, the first
# shell must not end it before it is through.
GUARD = """
log=$1; shift
exec 3<&0
"$@" </dev/null >>"$log" 2>&1 3<&- &
child=$!
(
    read -r _ <&3
    trap '' TERM
    kill -9 $child
) >/dev/null 2>&1 &
reader=$!
trap 'kill -9 $child' HUP INT TERM
echo $child
wait $child
code=$?
kill $reader
exit $code
"""


class GuardedProcess:
    """A running child process and the shell that guards it. One thread at a time."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        log: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start `command` in `folder`; what it prints is appended to `log`.

        Raises SandboxError when there is no shell or the log can't be written.
        """
        try:
            with log.open("ab") as errors:
                self._guard = subprocess.Popen(
                    ["/bin/sh", "-c", GUARD, "sh", str(log), *command],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    cwd=folder,
                    env=environment,
                    # The terminal's Ctrl+C is for the dashboard only.
                    start_new_session=True,
                )
        except OSError as error:
            raise SandboxError(f"can't start {command[0]}: {error.strerror}: {error.filename}") from error
        assert self._guard.stdout is not None
        with self._guard.stdout as said:
            pid = said.readline()
        self.pid = int(pid or 0)
        """The child's own process id, not the shell's."""

    def exit_code(self) -> int | None:
        """None while the child runs; then its code, or 128 + the signal's number as shells say it.

        A shell that was killed takes the child with it.
        """
        code = self._guard.poll()
        if code is not None:
            self._let_go()
        return code

    def wait(self, timeout_s: float) -> bool:
        """Whether the child ended in time."""
        with suppress(subprocess.TimeoutExpired):
            self._guard.wait(timeout_s)
        return self.exit_code() is not None

    def send(self, number: signal.Signals) -> None:
        """Send the child a signal; nothing happens when it has ended."""
        if self.pid and self.exit_code() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def pause(self) -> None:
        """SIGSTOP, and wait until it has worked: the child may run on for a moment after the signal was sent."""
        self.send(signal.SIGSTOP)
        while self.exit_code() is None and process_state(self.pid) != STOPPED:
            time.sleep(0.001)

    def close(self) -> None:
        """Kill the child if it still runs, and let go of the shell."""
        self.send(signal.SIGKILL)
        self._guard.wait()
        self._let_go()

    def _let_go(self) -> None:
        assert self._guard.stdin is not None
        self._guard.stdin.close()
