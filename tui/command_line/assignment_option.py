"""`--replica-assignment` and `--disable-rack-aware`, as kafka-topics.sh takes them."""

import click

Replicas = tuple[tuple[int, ...], ...]

assignment_option = click.option(
    "--replica-assignment", metavar="1:2,2:3", help="brokers of each partition in turn, the preferred leader first"
)
racks_option = click.option("--disable-rack-aware", is_flag=True, help="place replicas without regard to racks")


def assigned(text: str | None, count: int | None = None, factor: int | None = None) -> Replicas:
    """Replicas of each partition; none where nothing was said. Raises click.UsageError."""
    if text is None:
        return ()
    if count is not None or factor is not None:
        raise click.UsageError("--replica-assignment says how many there are: leave --partitions and "
                               "--replication-factor out")  # fmt: skip
    try:
        return tuple(tuple(int(broker) for broker in each.split(":")) for each in text.split(","))
    except ValueError:
        raise click.UsageError(f"--replica-assignment {text!r}: write brokers as 1:2,2:3") from None
