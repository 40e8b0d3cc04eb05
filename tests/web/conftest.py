"""A snapshot to serve."""

from tests.tui.command_line.conftest import snapshot_file as snapshot_file  # noqa: PLC0414
