"""The terminal's benchmark on a small cluster: that it still finds its way, not how fast it is."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.terminal import Plan, measured
from tests.benchmarks.terminal_steps import Extent

SMALL = Extent(entries=500, topics=10, partitions=50, heap_mb=256)


def test_each_figure_of_the_terminal_is_measured_on_a_small_cluster(tmp_path: Path) -> None:
    plan = Plan(SMALL, keys=3, rates=(0, 100), starts=1, settle_s=0.0, idle_s=0.1, busy_s=0.1)
    figures = {figure.what: figure for figure in measured(tmp_path, plan)}
    expected = {"start to first frame", "start to first data, a small cluster"}
    for scene in ("znode tree", "partition map"):
        expected.add(f"{scene}: start to first data, all rows")
        for what in (f"{scene}, quiet", f"{scene}, 100 changes/s"):
            expected |= {f"{what}: key to screen, p50", f"{what}: key to screen, p99"}
        expected |= {
            f"{scene}, quiet: processor time in 0.1 s idle",
            f"{scene}, 100 changes/s: processor time in 0.1 s",
        }
    assert figures.keys() == expected
    assert all(figure.ours_s > 0 and figure.rival_s != 0 for figure in figures.values())
    assert "changes/s in fact" in figures["partition map, 100 changes/s: key to screen, p50"].note
