"""The control process: `python -m model.sandbox.control`. Asked over its pipes (`messages`), it ends with its input."""

import asyncio
import signal

from model.hosts.child_process import output_for_messages
from model.hosts.process import without_hypothesis

with without_hypothesis():
    from model.sandbox.control.sandbox import serve


def main() -> None:
    """Runs the process."""
    output = output_for_messages()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # its client decides when it ends
    asyncio.run(serve(output))


if __name__ == "__main__":
    main()
