"""A command that waits for a pipe which nobody writes into ends by a signal, at once and as shells expect."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.harness.command import running
from tests.harness.waiting import PATIENCE_S, eventually

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def is_read(pipe: Path, writers: list[int]) -> bool:
    """Whether somebody has it open to read; we have it open to write, then, and write nothing."""
    try:
        writers.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:  # nobody reads yet
        return False
    return True


@pytest.mark.parametrize("words", ["status PIPE", "drill PIPE --kill 1", "plan zk://a --rebalance --config PIPE"])
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_it(words: str, number: signal.Signals, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writers: list[int] = []
    try:
        with running(*words.replace("PIPE", str(pipe)).split()) as process:
            eventually(lambda: is_read(pipe, writers))
            process.send_signal(number)
            assert process.wait(PATIENCE_S) in (128 + number, -number)
            assert process.stderr is not None
            assert process.stderr.read().strip() == ""
    finally:
        for descriptor in writers:
            os.close(descriptor)
