"""`kdrill scan`: what brokers' log folders hold, how well batches are filled and compressed, and what is damaged."""

import json
import time
from typing import Any

import click
import msgspec

from spark_tasks.client.once import Engine, Outcome
from spark_tasks.scans.folders import NothingToScanError, find_logs
from spark_tasks.scans.parameters import ScanParameters
from spark_tasks.scans.result import ScanResult
from spark_tasks.scans.scan import SCAN
from tui.command_line.engine_options import compute, takes_engine
from tui.command_line.scan_text import lines

SOUND, UNREADABLE, DAMAGED = 0, 1, 2
EVERYTHING = 100_000
"""Findings that `--all` shows; the rest is counted."""
LARGE, LARGE_DEEP = 64 << 30, 4 << 30
"""Costs from where on Spark is worth its start of some 10 s: one core takes about 40 s for either."""


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR...")
@click.option("--topic", "topics", multiple=True, help="only this topic; may be repeated")
@click.option(
    "--deep", is_flag=True, help="records too: decompress and check them; slower, tells the compression ratio"
)
@click.option("--all", "everything", is_flag=True, help="every finding and topic, and each partition folder")
@click.option("--json", "as_json", is_flag=True, help="one kdrill.scan/1 object")
@takes_engine
def scan(
    folders: tuple[str, ...], topics: tuple[str, ...], deep: bool, everything: bool, as_json: bool, engine: Engine
) -> int:
    """What log folders hold, and what is damaged. Exits 0 if nothing is, 2 if something is, 1 if files can't be read.

    DIR is a broker's log folder (log.dirs), a partition folder, or a folder with several of these below. Files are
    opened read-only; the broker may be running.

    \b
    Example: kdrill scan /var/kafka-logs
             kdrill scan --deep --topic orders --json /data1/kafka /data2/kafka
    """
    try:
        found = find_logs(folders, topics)
    except NothingToScanError as error:
        raise click.ClickException(str(error)) from None
    parameters = ScanParameters(found, time.time_ns() // 1_000_000, deep=deep)
    if everything:
        parameters = msgspec.structs.replace(parameters, most_findings=EVERYTHING)
    outcome = _computed(engine, parameters)
    result: ScanResult = outcome.result
    provenance = {"source": folders, "topics": topics, "engine": outcome.engine, "seconds": round(outcome.seconds, 3)}
    if as_json:
        document: dict[str, Any] = msgspec.to_builtins(result)
        click.echo(json.dumps({"format": document.pop("format"), **document, "provenance": provenance}))
    else:
        for line in lines(result, everything=everything):
            click.echo(line)
        click.echo(f"\nscanned in {outcome.seconds:,.1f} s, {outcome.engine}")
    return DAMAGED if result.damage else UNREADABLE if result.unread_files else SOUND


def _computed(engine: Engine, parameters: ScanParameters) -> Outcome:
    """On Spark if the work is large; where nobody asked for Spark and there is none, here after all."""
    is_large = sum(unit.cost for unit in SCAN.units({}, parameters)) >= (LARGE_DEEP if parameters.deep else LARGE)
    try:
        return compute(engine, SCAN, {}, parameters, is_large=is_large)
    except click.ClickException as error:
        if engine != Engine() or not is_large:
            raise
        click.echo(f"kdrill: {error.format_message()}; scanned in this process instead", err=True)
        return compute(Engine("here"), SCAN, {}, parameters)
