"""What `kdrill status` does with each moment: show it where something changed, on standard output or in a file."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from model.cluster.whole_file import write_whole
from model.sources.feed import Moment
from tui.command_line.status_shown import as_metrics_unreachable

HEALTHY, FINDINGS = 0, 2
REFRESH_S = 10.0
"""How often metrics are written again while nothing changes, so that their age stays small."""


@dataclass
class Showing:
    """What was shown last, and how. `cluster` is None where it is not shown to Prometheus."""

    shown: Callable[[Moment], str]
    cluster: str | None
    output: Path | None
    watches: bool
    code: int = HEALTHY
    last: tuple[object, ...] = ()
    last_s: float = 0.0

    def see(self, moment: Moment) -> bool:
        """Whether to go on. Raises click.ClickException where the file cannot be written."""
        found, now_s = moment.findings.found, time.monotonic()
        self.code = FINDINGS if any(one.severity == "error" for one in found) else HEALTHY
        source = (moment.status.phase, moment.status.warning)
        facts = (found, source, moment.image.controller, frozenset(moment.image.brokers))
        is_due = self.cluster is not None and now_s - self.last_s >= REFRESH_S
        if facts != self.last or is_due:
            self.last, self.last_s = facts, now_s
            self._put(self.shown(moment))
        return self.watches and moment.status.phase != "snapshot"

    def end(self) -> None:
        """The cluster cannot be read at all, or not any more: Prometheus is to know."""
        if self.cluster is not None:
            self._put(as_metrics_unreachable(self.cluster))

    def _put(self, text: str) -> None:
        if self.output is None:
            click.echo(text, nl=False)
            return
        try:
            write_whole(self.output, text.encode())
        except OSError as error:
            raise click.ClickException(f"{self.output}: cannot be written: {error.strerror or error}") from None
