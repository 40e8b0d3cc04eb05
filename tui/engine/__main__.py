"""The data process: `python -m tui.engine`. It speaks `link` on its pipes, `Opening` first, and ends with its input."""

import asyncio
import os
import sys

from model.hosts.process import loading, tell_no_values
from tui.engine.link import Garbled


def main() -> None:
    """Runs the process. Standard output is kept for messages: whatever prints goes to standard error."""
    tell_no_values()
    with loading():
        from tui.engine.process import serve  # noqa: PLC0415 - it is most of what this process loads
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    code = 0
    try:
        asyncio.new_event_loop().run_until_complete(serve(output))
    except Garbled as error:
        code = 1
        print(f"the dashboard's process sent {error}", file=sys.stderr, flush=True)
    os._exit(code)  # threads still waiting for a dead server must not keep us


if __name__ == "__main__":
    main()
