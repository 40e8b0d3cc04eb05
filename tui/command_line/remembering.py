"""What a run of the dashboard begins with and what is kept of it. An option or a setting wins over what was kept."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from model.sources.naming import parse_source
from model.sources.zookeeper.address import ZooKeeperAddress
from tui.data.opening import Opening
from tui.remembered import Remembered, recall, remember
from tui.text import plain

if TYPE_CHECKING:
    from tui.running import Ended


@dataclass(frozen=True)
class Start:
    """How a run begins. `theme`: asked for, or empty; `folder`: where things are kept, None for nowhere."""

    theme: str
    folder: Path | None
    is_fresh: bool
    """As if it were the first run; what is chosen then is kept as always."""


def remembering(
    run: "Callable[..., Ended]", opening: Opening, start: Start, *, note: str, tour: bool, **look: Any
) -> "Ended":
    """Runs the dashboard on a cluster as it was left the last time. What broke is not kept: it might break again.

    `tour`: whether a first run on a sandbox is to begin with the guided tour.
    """
    cluster = _cluster(opening)
    # Where nothing is remembered, a tour would come every time.
    kept = Remembered(toured=True) if start.folder is None or start.is_fresh else recall(start.folder, cluster)
    ended = run(
        theme=start.theme or kept.theme or "dark",
        screen=kept.screen,
        view_state=kept.view_state,
        note=note or kept.note,
        tour=tour and not kept.toured and _is_for_playing(opening),
        **look,
    )
    if start.folder is not None and not ended.fatal and ended.code != 1:
        theme = ended.theme if ended.theme_chosen else ""
        reason = remember(
            start.folder,
            cluster,
            theme=theme,
            screen=ended.screen,
            view_state=ended.view_state,
            toured=ended.toured,
        )
        if reason and not kept.note:  # else it was said as it began
            with suppress(OSError):  # the terminal is gone, too
                click.echo(f"kdrill: {plain(reason)}", err=True)
    return ended


def _is_for_playing(opening: Opening) -> bool:
    """Whether it is a sandbox, and nothing but the operator breaks it."""
    return not (opening.source or opening.is_demo or opening.sandbox.scenario)


def _cluster(opening: Opening) -> str:
    if opening.name or not opening.source:
        return opening.name or ("demo" if opening.is_demo else "sandbox")
    parsed = parse_source(opening.source)
    return str(parsed) if isinstance(parsed, ZooKeeperAddress) else os.path.abspath(opening.source)
