"""The Spark process: `python -m spark_tasks`. It is asked over its pipes (`messages`), and ends with its input.

`--build-archive` makes the class archive instead, from options on its input, and ends early when that ends.
"""

import os
import signal
import sys
import threading

import msgspec

from model.hosts.child_process import output_for_messages
from model.hosts.process import tell_no_values
from spark_tasks.messages import SparkOptions

NICE = 15


def main() -> None:
    """Runs the process."""
    tell_no_values()
    output = output_for_messages()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # its client decides when it ends
    if "--build-archive" in sys.argv[1:]:
        code = _build_archive()
    else:
        from spark_tasks.service import serve  # noqa: PLC0415 - takes pyspark

        serve(output)
        code = 0
    os._exit(code)  # threads that still wait for what was lost must not keep us


def _build_archive() -> int:
    from spark_tasks.service import build_archive  # noqa: PLC0415 - takes pyspark

    os.nice(NICE)
    options = msgspec.json.decode(sys.stdin.buffer.readline() or b"{}", type=SparkOptions)
    signal.signal(signal.SIGTERM, _end)
    threading.Thread(target=_end_with_input, daemon=True).start()
    return int(not build_archive(options))


def _end(*_: object) -> None:
    sys.exit(1)


def _end_with_input() -> None:
    while sys.stdin.buffer.read(1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)  # which ends the main thread in order, with its Java and its files


if __name__ == "__main__":
    main()
