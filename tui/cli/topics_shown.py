"""`kdrill topics list` and `describe`: what kafka-topics.sh prints, from whatever SOURCE tells."""

from collections.abc import Sequence

import click

from model.actions.proposal import ActionRefused
from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.pending_work import pending_work
from tui.cli.following import image_of
from tui.cli.kafka_tools import Configs, PartitionFilter, asking_brokers, describe_lines, hashed, settings_in_order
from tui.cli.options import takes_cluster
from tui.cli.output import tell, tell_demo
from tui.engine.acting import targets
from tui.engine.acting.targets import brokers_of
from tui.engine.opening import Opening
from tui.engine.text import plain


def chosen_topics(
    image: ClusterImage, wanted: str | None, *, exclude_internal: bool = False, if_exists: bool = False
) -> list[str]:
    """As `tui.engine.acting.targets.chosen_topics`. Raises click.ClickException."""
    try:
        return targets.chosen_topics(image, wanted, exclude_internal=exclude_internal, if_exists=if_exists)
    except ActionRefused as refusal:
        raise click.ClickException(str(refusal)) from None


@click.command("list")
@takes_cluster
@click.option("--topic", metavar="NAME", help="only these: a name, or a regular expression")
@click.option("--exclude-internal", is_flag=True, help="without Kafka's own topics")
def list_topics(opening: Opening, topic: str | None, exclude_internal: bool) -> None:
    """The names of topics, one a line, and which are marked for deletion.

    \b
    Example: kdrill topics zk://zk1:2181/kafka list
    """
    image = image_of(opening)
    names = chosen_topics(image, topic, exclude_internal=exclude_internal, if_exists=True)
    tell_demo(opening)
    for name in names:
        mark = " - marked for deletion" if name in image.admin.delete_topics else ""
        click.echo(f"{plain(name)}{mark}")
    _tell_marked(image, image.admin.delete_topics)


@click.command()
@takes_cluster
@click.option("--topic", metavar="NAME", help="only these: a name, or a regular expression")
@click.option("--under-replicated-partitions", is_flag=True, help="only partitions with replicas out of sync")
@click.option("--unavailable-partitions", is_flag=True, help="only partitions without a live leader")
@click.option("--under-min-isr-partitions", is_flag=True, help="only partitions with fewer in sync than they must have")
@click.option(
    "--at-min-isr-partitions", is_flag=True, help="only partitions with just as many in sync as they must have"
)
@click.option(
    "--topics-with-overrides", is_flag=True, help="only topics with settings of their own, without partitions"
)
@click.option("--exclude-internal", is_flag=True, help="without Kafka's own topics")
@click.option("--if-exists", is_flag=True, help="no error where there is no such topic")
def describe(
    opening: Opening,
    topic: str | None,
    under_replicated_partitions: bool,
    unavailable_partitions: bool,
    under_min_isr_partitions: bool,
    at_min_isr_partitions: bool,
    topics_with_overrides: bool,
    exclude_internal: bool,
    if_exists: bool,
) -> None:
    """Topics and their partitions, as kafka-topics.sh --describe prints them.

    ZooKeeper does not know what brokers have in their files: with --bootstrap, or a kafka:// SOURCE, they are asked.

    \b
    Example: kdrill topics zk://zk1:2181/kafka describe --topic orders
    """
    image = image_of(opening)
    names = chosen_topics(image, topic, exclude_internal=exclude_internal, if_exists=if_exists)
    shown = PartitionFilter(
        under_replicated_partitions,
        unavailable_partitions,
        under_min_isr_partitions,
        at_min_isr_partitions,
        topics_with_overrides,
    )
    brokers = brokers_of(opening)
    configs = _asked(opening, brokers, names) if brokers else {name: settings_in_order(image, name) for name in names}
    tell_demo(opening)
    for line in describe_lines(image, names, shown, configs):
        click.echo("\t".join(map(plain, line.split("\t"))))
    _tell_marked(image, image.admin.delete_topics.intersection(names))


def _asked(opening: Opening, brokers: str, names: Sequence[str]) -> Configs:
    """Settings that differ from the default, in the order of the tool's hash table."""
    with asking_brokers(opening, brokers) as reads:
        described = reads.described("topic", names)
    set_somewhere = {
        name: {each.name: each.value or "null" for each in told if not each.is_default}
        for name, told in described.items()
    }
    orders = {name: hashed([each.name for each in told]) for name, told in described.items()}
    return {name: {key: found[key] for key in orders[name] if key in found} for name, found in set_somewhere.items()}


def _tell_marked(image: ClusterImage, names: frozenset[str]) -> None:
    """Why topics that are marked for deletion are still there, on standard error."""
    for work in pending_work(image) if names else ():
        if work.kind == "delete" and work.topic in names:
            tell(f"{work.topic} is marked for deletion and waits for {work.waits_for}")
