"""`kdrill snapshot`: a cluster as it is now, in a file that can be opened, compared and planned with."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui.cli.following import follow, run
from tui.cli.options import takes_source
from tui.cli.output import tell
from tui.engine.opening import Opening

if TYPE_CHECKING:
    from model.sources.feed import Moment


@click.command()
@takes_source
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="FILE.json or FILE.json.zst")
def snapshot(opening: Opening, output: Path) -> None:
    """Save the cluster as it is now (kdrill.snapshot/1).

    SOURCE is zk://host:port[,host:port...][/chroot], kafka:// or controllers://host:port[,...], a snapshot, a recording
    (DIR or DIR@2026-11-20T12:03:58Z), a KRaft node's __cluster_metadata-0 (DIR, DIR@TIME, DIR@OFFSET) or .checkpoint,
    what kafka-topics --describe printed (a file, or - for standard input), or a cluster's name in the configuration.

    Secrets are left out. The file is written atomically; an existing one is replaced.

    \b
    Example: kdrill snapshot zk://zk1:2181/kafka -o before-upgrade.json.zst
    """
    from model.cluster.snapshot_file import SnapshotError, write_snapshot  # noqa: PLC0415 - takes numpy

    def save(moment: "Moment") -> bool:
        write_snapshot(output, moment.image, moment.findings.found)
        image = moment.image
        known = image.group_count
        groups = "groups unknown" if known is None else f"{known} groups"
        counts = f"{len(image.topics):,} topics, {image.partition_count:,} partitions, {groups}"
        tell(f"{output}: {len(image.brokers)} brokers, {counts}", head="")
        return False

    try:
        run(follow(opening, save))
    except SnapshotError as error:
        raise click.ClickException(str(error)) from None
