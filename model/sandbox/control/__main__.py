"""The control process: `python -m model.sandbox.control`. Speaks `messages` on its pipes, and ends with its input."""

import asyncio
import os
import signal
import sys
from typing import BinaryIO

from model.hosts.process import without_hypothesis

with without_hypothesis():
    from model.sandbox.control.sandbox import serve


def main() -> None:
    """Runs the process. Standard output is kept for messages: whatever prints goes to standard error."""
    output: BinaryIO = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # its client decides when it ends
    asyncio.run(serve(sys.stdin.buffer, output))


if __name__ == "__main__":
    main()
