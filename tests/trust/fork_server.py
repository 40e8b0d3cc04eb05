"""Runs kdrill again and again, each time in a fork of a process that has loaded it: loading is what takes time.

One request a line, `{"words": […], "out": FILE, "err": FILE}`; the answer is a line with the exit code.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pkgutil import iter_modules

import tui.cli
from tui.cli.main import main

LOADED = (
    "model.cluster.snapshot_file", "model.recordings.recorder", "model.sources.zookeeper.zookeeper_source",
    "kafka.admin", "model.hosts.acting.carrying_out", "model.hosts.client_properties",
    "model.planning.optimum.solving", "spark_tasks.spark_client", "tui.engine.way_in",
    "tui.engine.sources",
    *(f"tui.cli.{module.name}" for module in iter_modules(tui.cli.__path__)),
)  # fmt: skip


def serve() -> None:
    """Until its input ends. It has no threads, so that a fork of it is whole."""
    for name in LOADED:
        import_module(name)
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            _run(asked["words"], asked["out"], asked["err"])
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _run(words: list[str], out: str, err: str) -> None:
    for descriptor, path in ((0, os.devnull), (1, out), (2, err)):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOCTTY, 0o600), descriptor)
    code: object = 1
    try:
        main(words)
    except SystemExit as end:
        code = end.code
    except BaseException as error:  # as the interpreter would
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code if isinstance(code, int) else 1)


if __name__ == "__main__":
    serve()
