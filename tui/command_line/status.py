"""`kdrill status`: what is wrong now, for people, scripts and monitors."""

import json
from collections.abc import Callable

import click
import msgspec

from model.cluster.findings import Finding
from model.sources.feed import Moment
from tui.command_line.following import follow, run
from tui.command_line.options import takes_source
from tui.data.opening import Opening
from tui.text import plain

FORMAT = "kdrill.status/1"
HEALTHY, FINDINGS = 0, 2
SIGNS = {"error": "X", "warn": "!", "info": "~"}


@click.command()
@takes_source
@click.option("--json", "as_json", is_flag=True, help="one kdrill.status/1 object; with --watch one a line")
@click.option("--watch", is_flag=True, help="go on, and print again whenever something changes")
def status(opening: Opening, as_json: bool, watch: bool) -> int:
    """What is wrong with the cluster now. Exits 0 if healthy, 2 if there are findings of severity error.

    SOURCE is zk://host:port[,host:port...][/chroot], a snapshot file, or a cluster's name in the configuration.

    \b
    Example: kdrill status zk://zk1:2181/kafka --json
    """
    if not opening.source:
        raise click.UsageError("SOURCE is missing: which cluster?")
    show: Callable[[Moment], None] = _print_json if as_json else _print_text
    last: tuple[object, ...] = ()
    code = HEALTHY

    def see(moment: Moment) -> bool:
        nonlocal last, code
        code = FINDINGS if any(found.severity == "error" for found in moment.findings.found) else HEALTHY
        facts = (moment.findings.found, moment.status.phase, moment.image.controller, frozenset(moment.image.brokers))
        if facts != last:
            last = facts
            show(moment)
        return watch and moment.status.phase != "snapshot"

    run(follow(opening, see))
    return code


def document(moment: Moment) -> dict[str, object]:
    """The kdrill.status/1 object: counts, controller, findings worst first."""
    image, findings = moment.image, moment.findings.found
    return {
        "format": FORMAT,
        "source": image.provenance.source,
        "phase": moment.status.phase,
        "reason": moment.status.reason,
        "time_ms": image.provenance.time_ms,
        "zxid": image.provenance.zxid,
        "cluster_id": image.cluster_id,
        "kafka_generation": image.generation,
        "controller": {"broker": image.controller.broker, "epoch": image.controller.epoch},
        "brokers": sorted(image.brokers),
        "topics": len(image.topics),
        "partitions": image.partition_count,
        "errors": sum(finding.severity == "error" for finding in findings),
        "warnings": sum(finding.severity == "warn" for finding in findings),
        "findings": findings,
    }


def _print_json(moment: Moment) -> None:
    # In ASCII: names come from znodes, and the line may be read on a terminal.
    click.echo(json.dumps(msgspec.to_builtins(document(moment)), separators=(",", ":")))


def _print_text(moment: Moment) -> None:
    image = moment.image
    controller = "no controller" if image.controller.broker is None else f"controller b{image.controller.broker}"
    head = f"{image.provenance.source}: {controller} e{image.controller.epoch}, {len(image.brokers)} brokers, "
    click.echo(plain(f"{head}{len(image.topics):,} topics, {image.partition_count:,} partitions"))
    if moment.status.phase == "stale":
        click.echo(plain(f"! STALE: {moment.status.reason}"))
    for finding in moment.findings.found:
        click.echo(_finding_line(finding))
    if not moment.findings.found:
        click.echo("nothing is wrong")


def _finding_line(finding: Finding) -> str:
    return plain(f"{SIGNS[finding.severity]} {finding.subject}: {finding.what} {finding.action}")
