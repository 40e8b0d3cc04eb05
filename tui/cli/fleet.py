"""`kdrill drill --fleet`: every scenario of some kinds played in virtual time, and how long each would hurt.

For people, the worst ones first; as JSON lines, a manifest and then a line for each scenario, in the order of their
numbers: `kdrill.fleet/1`.
"""

from collections.abc import Iterator
from typing import Any, cast

import click
import msgspec

from model.analyses.fleets.fleet import FLEET, FleetResult, FleetRow, fleet_arrays
from model.analyses.fleets.scenarios import GENERATORS, FleetParameters, Generator
from model.cluster.cluster_image import ClusterImage
from model.cluster.texts import counted
from model.drills.setup_znodes import rules_of
from model.drills.voters import not_forecast
from spark_tasks.spark_client import Engine
from tui.cli.options import compute
from tui.cli.output import json_line
from tui.engine.text import cells, plain

FORMAT = "kdrill.fleet/1"
MOST_SEQUENCES = 1_000_000
HEADS = ("lost", "offline", "under min", "no leader s", "longest s", "refused s", "moved")


def wanted(text: str, seed: int, *, unclean: bool) -> FleetParameters:
    """`single,pair,random:1000` as parameters. Raises click.UsageError."""
    kinds: list[Generator] = []
    count = 0
    for word in (part.strip() for part in text.split(",")):
        name, colon, number = word.partition(":")
        if name not in GENERATORS or (colon and name != "random"):
            raise click.UsageError(f"--fleet: {word!r} is none of {', '.join(GENERATORS[:-1])} and random:N")
        if name == "random":
            count = int(number) if number.isascii() and number.isdigit() and len(number) < 8 else 0
            if not 1 <= count <= MOST_SEQUENCES:
                raise click.UsageError(
                    f"--fleet: {word!r} is not random:N, as in random:1000 (at most {MOST_SEQUENCES:,})"
                )
        kinds.append(cast(Generator, name))
    return FleetParameters(generators=tuple(dict.fromkeys(kinds)), unclean=unclean, count=count, seed=seed)


def fleet(
    image: ClusterImage, parameters: FleetParameters, engine: Engine, limit: int | None, *, as_json: bool
) -> tuple[bool, Iterator[str]]:
    """Whether any scenario hurts, and the lines to print. Raises click.ClickException."""
    outcome = compute(engine, FLEET, fleet_arrays(image), parameters)
    result: FleetResult = outcome.result
    hurts = any(row.lost or row.offline_after or row.under_min_after for row in result.rows)
    if as_json:
        return hurts, _json_lines(image, parameters, result)
    return hurts, _lines(image, result, limit, f"{outcome.engine} in {outcome.seconds:,.1f} s")


def _json_lines(image: ClusterImage, parameters: FleetParameters, result: FleetResult) -> Iterator[str]:
    seen = image.provenance
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "source": seen.source,
        "time_ms": seen.time_ms,
        "rules": rules_of(image).since,
        "scenarios": len(result.rows),
        "asked": msgspec.to_builtins(parameters),
    }
    for document in (manifest, *(msgspec.to_builtins(row) for row in result.rows)):
        yield json_line(document)


def _lines(image: ClusterImage, result: FleetResult, limit: int | None, how: str) -> Iterator[str]:
    if first := not_forecast(image):
        yield first
    yield plain(f"{image.provenance.source}: {counted(len(result.rows), 'scenario')} played in virtual time")
    yield f"assumed: rules of Kafka {rules_of(image).since} and later; a broker that comes back was away for 15 min"
    yield f"computed {how}"
    yield ""
    worst = result.worst_first[: 20 if limit is None else limit]
    width = max(map(cells, ("scenario", *(plain(_named(row)) for row in worst))))
    yield f"{'scenario':<{width}}  {'  '.join(HEADS)}"
    for row in worst:
        name = plain(_named(row))
        yield f"{name}{' ' * (width - cells(name))}  {row.error or _figures(row)}"
    if len(result.rows) > len(worst):
        yield f"… {len(result.rows) - len(worst):,} more, none of them worse: --limit lists more"


def _named(row: FleetRow) -> str:
    return row.text if row.controller is None else f"{row.text} (controller b{row.controller})"


def _figures(row: FleetRow) -> str:
    figures = (
        f"{row.lost:,}", f"{row.offline_after:,}", f"{row.under_min_after:,}", f"{row.leaderless_s:,.1f}",
        f"{row.longest_s:,.1f}", f"{row.under_min_s:,.1f}", f"{row.moved:,}",
    )  # fmt: skip
    return "  ".join(figure.rjust(len(head)) for figure, head in zip(figures, HEADS, strict=True))
