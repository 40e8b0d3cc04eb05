"""Key → screen, starts and processor time of kdrill in a real pseudo-terminal of 200 x 60, at a million rows.

The rival is the least that a Textual app can do, in the same run and by turns, in batches of keys. What counts on a
machine that does other things as well is the ratio. A key is answered when its row is drawn with the cursor on it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from tests.benchmarks.figure import Figure
from tests.benchmarks.terminal_steps import SCENES, Extent, Scene, Stage, cluster, stormed
from tests.benchmarks.timed_terminal import TimedTerminal, chosen, seen
from tests.benchmarks.zookeeper_image import BROKERS, kafka_znodes

MINIMAL = "minimal Textual app"
P50_GOAL, P99_GOAL, START_GOAL = 1 / 3.5, 1 / 3, 1 / 2.5
"""A full layout may take so many times as long as the minimal app."""

BATCH = 50
GAP_S = (0.02, 0.06)
"""Between two keys, at random: not in step with anybody's timer."""

FRAME, DATA, WHOLE = seen("Overview"), seen(f"{BROKERS} brokers up"), seen("LIVE")


@dataclass(frozen=True)
class Plan:
    """How long it is looked at. `settle_s` because ages below a minute are drawn every few seconds."""

    extent: Extent = field(default_factory=Extent)
    keys: int = 300
    rates: tuple[int, ...] = (0, 1_000, 5_000)
    starts: int = 5
    settle_s: float = 65.0
    idle_s: float = 30.0
    busy_s: float = 15.0


def measure(folder: Path) -> Iterator[Figure]:
    """At a million rows."""
    yield from measured(folder, Plan())


def measured(folder: Path, plan: Plan) -> Iterator[Figure]:
    """Starts, then each scene quiet and under changes."""
    stage = Stage(folder)
    with cluster(folder / "small", kafka_znodes(2, 5), heap_mb=256) as address:
        yield from _starts(stage, address, plan)
    for number, scene in enumerate(SCENES):
        extent = plan.extent
        with cluster(folder / f"scene-{number}", scene.znodes(extent), extent.heap_mb) as address, ExitStack() as ends:
            ours = ends.enter_context(stage.kdrill(address))
            rival = ends.enter_context(stage.minimal(scene.rows(extent)))
            rival.shows(chosen("row-0000000"))
            loaded_s = ours.shows(DATA, WHOLE) - ours.began_s
            yield Figure(f"{scene.name}: start to first data, all rows", loaded_s)
            for keys, expected in scene.way:
                ours.type(keys, expected)
            yield from _Keys(scene, ours, rival, plan).at_all_rates(address)


def _starts(stage: Stage, address: str, plan: Plan) -> Iterator[Figure]:
    frames: list[float] = []
    filled: list[float] = []
    rivals: list[float] = []
    for _ in range(plan.starts + 1):
        with stage.kdrill(address) as ours:
            frame_s, data_s = ours.moments(FRAME, DATA)
            frames.append(frame_s - ours.began_s)
            filled.append(data_s - ours.began_s)
        with stage.minimal(1) as rival:
            rivals.append(rival.shows(chosen("row-0000000")) - rival.began_s)
    rival_s = median(rivals[1:])  # the first ones wrote the bytecode
    yield Figure("start to first frame", median(frames[1:]), MINIMAL, rival_s, START_GOAL)
    yield Figure("start to first data, a small cluster", median(filled[1:]), MINIMAL, rival_s, START_GOAL)


class _Keys:
    """Goes down a list, in both programs by turns."""

    def __init__(self, scene: Scene, ours: TimedTerminal, rival: TimedTerminal, plan: Plan) -> None:
        self._scene, self._ours, self._rival, self._plan = scene, ours, rival, plan
        self._next = [scene.first, 1]

    def at_all_rates(self, address: str) -> Iterator[Figure]:
        for rate in self._plan.rates:
            what = f"{self._scene.name}, {f'{rate:,} changes/s' if rate else 'quiet'}"
            with stormed(address, rate, self._scene, self._plan.extent) as reached:
                figures = [*self._keys(what), self._busy(what) if rate else self._idle(what)]
            note = f"; {reached[0]:,.0f} changes/s in fact" if reached else ""
            yield from (replace(each, note=each.note + note) for each in figures)

    def _keys(self, what: str) -> Iterator[Figure]:
        times: tuple[list[float], list[float]] = [], []
        costs = [0.0, 0.0]
        for _ in range(0, self._plan.keys, BATCH):
            for number, terminal in enumerate((self._ours, self._rival)):
                before_s = terminal.cpu_s()[0]
                times[number].extend(self._batch(number, terminal))
                costs[number] += terminal.cpu_s()[0] - before_s
        (ours, rival), keys = map(sorted, times), len(times[0])
        cost = f"processor time a key {1e3 * costs[0] / keys:.1f} ms, {1e3 * costs[1] / keys:.1f} ms"
        for part, goal in ((0.5, P50_GOAL), (0.99, P99_GOAL)):
            place = min(int(part * keys), keys - 1)
            name = f"{what}: key to screen, p{100 * part:.0f}"
            yield Figure(name, ours[place], MINIMAL, rival[place], goal, cost if part == 0.5 else "")

    def _batch(self, number: int, terminal: TimedTerminal) -> Iterator[float]:
        for _ in range(min(BATCH, self._plan.keys)):
            row, self._next[number] = self._next[number], self._next[number] + 1
            terminal.rest(random.uniform(*GAP_S))
            name = f"row-{row:07}" if terminal is self._rival else self._scene.row(self._plan.extent, row)
            yield terminal.type("j", chosen(name))

    def _busy(self, what: str) -> Figure:
        seconds, note = _cpu(self._ours, self._plan.busy_s)
        return Figure(f"{what}: processor time in {self._plan.busy_s:g} s", seconds, note=note)

    def _idle(self, what: str) -> Figure:
        self._ours.rest(self._plan.settle_s)
        seconds, note = _cpu(self._ours, self._plan.idle_s)
        rival_s, _ = _cpu(self._rival, self._plan.idle_s)
        return Figure(f"{what}: processor time in {self._plan.idle_s:g} s idle", seconds, MINIMAL, rival_s, note=note)


def _cpu(terminal: TimedTerminal, seconds: float) -> tuple[float, str]:
    before = terminal.cpu_s()
    terminal.rest(seconds)
    screen_s, data_s = (after - was for after, was in zip(terminal.cpu_s(), before, strict=True))
    used_s = max(screen_s + data_s, 0.001)
    return used_s, f"{100 * used_s / seconds:.2f} % of a core, {100 * data_s / seconds:.2f} % in the data process"
