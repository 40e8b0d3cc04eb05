"""Runs benchmarks and prints their figures as a table, and as JSON with `--json FILE`.

One that fails is told in a line and does not keep the others from running; the file has what was measured until then.

A benchmark is a module of this folder with `measure(folder: Path) -> Iterable[Figure]`; its name is the module's.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

import click

from tests import benchmarks
from tests.benchmarks.figure import Figure

Measure = Callable[[Path], Iterable[Figure]]


def known() -> dict[str, Measure]:
    """Every benchmark by its name."""
    modules = (
        importlib.import_module(f"tests.benchmarks.{each.name}") for each in pkgutil.iter_modules(benchmarks.__path__)
    )
    return {module.__name__.rpartition(".")[2]: module.measure for module in modules if hasattr(module, "measure")}


def _line(figure: Figure) -> str:
    ours, ratio = _time(figure.ours_s), figure.ratio
    if ratio is None:
        return f"{figure.what:<56} {ours}  {'':>12} {'no rival':<28} {'':>9} {'':<10} {figure.note}"
    goal = "" if figure.goal is None else f"goal {figure.goal:g}x"
    rival = _time(figure.rival_s or 0.0)
    return f"{figure.what:<56} {ours}  {rival} {figure.rival:<28} {ratio:8.2f}x {goal:<10} {figure.note}"


def _time(seconds: float) -> str:
    return f"{seconds:10.3f} s " if seconds >= 0.1 else f"{1e3 * seconds:10.2f} ms"


@click.command()
@click.argument("names", nargs=-1)
@click.option("--json", "file", type=click.Path(path_type=Path), help="Also write the figures to this file.")
def main(names: tuple[str, ...], file: Path | None) -> None:
    """Run the benchmarks NAMES, or all."""
    benchmarks_by_name = known()
    unknown = [name for name in names if name not in benchmarks_by_name]
    if unknown:
        raise click.UsageError(f"no benchmark {unknown[0]!r}; there are: {', '.join(benchmarks_by_name)}")
    document: dict[str, object] = {"format": "kdrill.benchmarks/1", "machine": _machine()}
    figures: list[dict[str, object]] = []
    failures: dict[str, str] = {}
    for name in names or benchmarks_by_name:
        click.echo(f"== {name}")
        began_s = time.monotonic()
        try:
            for figure in _figures(benchmarks_by_name[name]):
                click.echo(_line(figure))
                figures.append({"benchmark": name, **asdict(figure), "ratio": figure.ratio})
        except Exception as error:
            traceback.print_exc()
            failures[name] = f"{type(error).__name__}: {error}".partition("\n")[0]
            click.echo(f"FAILED: {failures[name]}")
        click.echo(f"   {time.monotonic() - began_s:.0f} s in all")
        if file is not None:
            document |= {"figures": figures, "failures": failures}
            file.write_text(json.dumps(document, indent=1) + "\n")
    sys.exit(1 if failures else 0)


def _figures(measure: Measure) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="kdrill-benchmark-") as folder:
        yield from measure(Path(folder))


def _machine() -> dict[str, object]:
    """What the figures were measured on. A load average near 0 is a quiet machine."""
    return {
        "system": platform.platform(),
        "cpus": os.cpu_count(),
        "memory_mib": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20,
        "python": platform.python_version(),
        "load_average": os.getloadavg()[0],
    }


if __name__ == "__main__":
    main()
