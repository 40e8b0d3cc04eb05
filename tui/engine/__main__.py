"""The data process: `python -m tui.engine`. It is told its `Opening`, asked over its pipes, and ends with its input."""

import asyncio
import os
import sys

from model.hosts.child_process import Garbled, output_for_messages
from model.hosts.process import loading, tell_no_values


def main() -> None:
    """Runs the process."""
    tell_no_values()
    with loading():
        from tui.engine.process import serve  # noqa: PLC0415 - it is most of what this process loads
    output = output_for_messages()
    code = 0
    try:
        asyncio.new_event_loop().run_until_complete(serve(output))
    except Garbled as error:
        code = 1
        print(f"the dashboard's process sent {error}", file=sys.stderr, flush=True)
    os._exit(code)  # threads still waiting for a dead server must not keep us


if __name__ == "__main__":
    main()
