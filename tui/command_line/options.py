"""The options that commands have in common, and what SOURCE, configuration and options together open."""

import os
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click
import msgspec

from model.hosts.zookeeper.courtesy import Limits
from tui.command_line.login import login_of, with_properties
from tui.command_line.waiting import begun_s
from tui.config import ClusterConfig, Config, load_config
from tui.data.opening import NOBODY, Opening, Patience

Command = Callable[..., Any]


def common_options(command: Command) -> Command:
    """`--config`, which the command gets as the `config` read, and click's context as its object; `--no-color`."""

    @click.option(
        "--config",
        "config_path",
        envvar="KDRILL_CONFIG",
        show_envvar=True,
        type=click.Path(path_type=Path),
        help="clusters by name; default: config.toml in the platform's folder for kdrill",
    )
    @click.option("--no-color", is_flag=True, help="no colours at all, as with NO_COLOR")
    @wraps(command)
    def with_config(config_path: Path | None, no_color: bool, **others: Any) -> Any:
        if no_color:
            os.environ["NO_COLOR"] = "1"
        config = click.get_current_context().obj = load_config(config_path)
        return command(config=config, **others)

    return with_config


NO_SOURCE = "SOURCE is missing: which cluster?"


def takes_source(command: Command) -> Command:
    """As `takes_opening`, for commands that need a SOURCE. Raises click.UsageError where none is named."""

    @takes_opening
    @wraps(command)
    def with_source(opening: Opening, **others: Any) -> Any:
        if not opening.source:
            raise click.UsageError(NO_SOURCE)
        return command(opening=opening, **others)

    return with_source


def takes_opening(command: Command) -> Command:
    """SOURCE and how to reach it, which the command gets as an `opening`; its `source` is empty where none is named."""

    @click.argument("source", required=False, default="")
    @_reaching
    @common_options
    @wraps(command)
    def with_opening(
        source: str,
        connect_timeout: float | None,
        timeout: float,
        poll: float | None,
        max_reads_per_second: float | None,
        command_config: Path | None,
        bootstrap: str,
        config: Config,
        **others: Any,
    ) -> Any:
        named = source or config.default or (f"kafka://{bootstrap}" if bootstrap else "")
        opening = opening_of(named, config, command_config)
        _warn(opening.login.warnings)
        if bootstrap:
            opening = msgspec.structs.replace(opening, bootstrap=bootstrap)
        opening = msgspec.structs.replace(opening, connect_timeout_s=connect_timeout, poll_s=poll or opening.poll_s)
        opening = msgspec.structs.replace(opening, patience=Patience(timeout, begun_s()))
        if max_reads_per_second is not None:
            limits = msgspec.structs.replace(opening.limits, reads_per_s=max_reads_per_second)
            opening = msgspec.structs.replace(opening, limits=limits)
        return command(opening=opening, **others)

    return with_opening


def _reaching(command: Command) -> Command:
    """The options about how a SOURCE is reached, in the order of the help."""
    options = (
        click.option(
            "--bootstrap",
            metavar="HOST:PORT[,…]",
            default="",
            callback=_brokers,
            help="brokers to ask beside a ZooKeeper, and to act through",
        ),
        *_timeouts(),
        click.option(
            "--poll",
            metavar="SECONDS",
            type=click.FloatRange(min=0.1),
            help="how often brokers are asked: kafka://, and beside a ZooKeeper",
        ),
        click.option(
            "--max-reads-per-second",
            metavar="N",
            type=click.FloatRange(min=1),
            help="of a ZooKeeper no more znodes are asked for each second",
        ),
        click.option(
            "--command-config",
            metavar="FILE",
            type=click.Path(path_type=Path),
            help="how to log in: Kafka's client.properties, zookeeper.ssl keys too",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _timeouts() -> tuple[Callable[[Command], Command], ...]:
    return (
        click.option(
            "--connect-timeout",
            metavar="SECONDS",
            type=click.FloatRange(min=0, min_open=True),
            help="how long the first connection may take",
        ),
        click.option(
            "--timeout",
            metavar="SECONDS",
            type=click.FloatRange(min=0, min_open=True),
            default=Patience().timeout_s,
            show_default=True,
            help="how long nothing new may be read until all is; the dashboard goes on trying",
        ),
    )


def _brokers(_context: click.Context, _option: click.Parameter, text: str) -> str:
    """As Kafka's `bootstrap.servers`. Raises click.BadParameter for what is no such list."""
    if not text:
        return ""
    from model.sources.kafka.address import parse_address  # noqa: PLC0415 - most runs name none
    from model.sources.source import SourceError  # noqa: PLC0415

    try:
        return parse_address(text).bootstrap
    except SourceError:
        raise click.BadParameter(f"{text!r}: write host:port[,host:port…]") from None


def _warn(warnings: Sequence[str]) -> None:
    for warning in warnings:
        from tui.text import plain  # noqa: PLC0415 - most runs have nothing to tell

        click.echo(f"kdrill: {plain(warning)}", err=True)


def opening_of(source: str, config: Config, command_config: Path | None = None) -> Opening:
    """What a SOURCE opens: a cluster's name in the configuration goes before everything else.

    `command_config` is a client.properties that goes before the cluster's own. Raises ConfigError.
    """
    cluster = config.clusters.get(source)
    if cluster is None:
        _check_there(source, config)
        return Opening(source=source, login=with_properties(NOBODY, command_config))
    kafka = ",".join(cluster.kafka)
    address = f"zk://{','.join(cluster.zookeeper)}{cluster.chroot}" if cluster.zookeeper else f"kafka://{kafka}"
    if command_config is None and cluster.command_config:
        command_config = Path(config.beside(cluster.command_config))
    login = with_properties(login_of(cluster, config, f"clusters.{source}"), command_config)
    bootstrap = kafka if cluster.zookeeper else ""
    return Opening(
        source=address, bootstrap=bootstrap, name=source, login=login, poll_s=cluster.poll, limits=_limits(cluster)
    )


def _check_there(source: str, config: Config) -> None:
    """Raises click.ClickException for what is neither a file nor a cluster, with the clusters that there are."""
    if not source or os.path.lexists(source):
        return
    from difflib import get_close_matches  # noqa: PLC0415 - most runs name what is there

    from model.sources.naming import NoSuchFileError, parse_source  # noqa: PLC0415
    from model.sources.source import SourceError  # noqa: PLC0415

    try:
        parse_source(source)
    except NoSuchFileError as error:
        near = get_close_matches(source, config.clusters, 3, 0.5)
        known = f"{config.path} names {', '.join(config.clusters)}" if config.clusters else f"{config.path} names none"
        way_out = f"did you mean {' or '.join(near)}?" if near else known
        raise click.ClickException(f"{source!r}: no such file, and no such cluster: {way_out}{error.hint}") from None
    except SourceError:
        pass  # whoever opens it says so


def _limits(cluster: ClusterConfig) -> Limits:
    return Limits(in_flight=cluster.max_in_flight, reads_per_s=cluster.max_reads_per_second or 0.0)
