"""Runs benchmarks and prints their figures as a table, and as JSON with `--json FILE`.

A benchmark is a module of this folder with `measure(folder: Path) -> Iterable[Figure]`; its name is the module's.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import tempfile
from collections.abc import Callable, Iterable
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
    ours, ratio = f"{figure.ours_s:10.3f} s", figure.ratio
    if ratio is None:
        return f"{figure.what:<56} {ours}  {figure.note}"
    goal = "" if figure.goal is None else f"goal {figure.goal:g}x"
    return (
        f"{figure.what:<56} {ours}  {figure.rival_s:10.3f} s {figure.rival:<28} {ratio:8.2f}x {goal:<10} {figure.note}"
    )


@click.command()
@click.argument("names", nargs=-1)
@click.option("--json", "file", type=click.Path(path_type=Path), help="Also write the figures to this file.")
def main(names: tuple[str, ...], file: Path | None) -> None:
    """Run the benchmarks NAMES, or all."""
    benchmarks_by_name = known()
    unknown = [name for name in names if name not in benchmarks_by_name]
    if unknown:
        raise click.UsageError(f"no benchmark {unknown[0]!r}; there are: {', '.join(benchmarks_by_name)}")
    figures: list[dict[str, object]] = []
    for name in names or benchmarks_by_name:
        click.echo(f"== {name}")
        with tempfile.TemporaryDirectory(prefix="kdrill-benchmark-") as folder:
            for figure in benchmarks_by_name[name](Path(folder)):
                click.echo(_line(figure))
                figures.append({"benchmark": name, **asdict(figure), "ratio": figure.ratio})
    if file is not None:
        file.write_text(json.dumps({"format": "kdrill.benchmarks/1", "figures": figures}, indent=1) + "\n")


if __name__ == "__main__":
    main()
