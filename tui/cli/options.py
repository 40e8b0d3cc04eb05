"""The options that commands share: SOURCE, how to reach it and to log in, the configuration, `--demo`.

Together they make an `Opening`. A client.properties goes before what the configuration says of the cluster. `--demo`
puts an invented cluster in place of a SOURCE, and all that is printed of it says so. Connects nowhere.
"""

import os
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from model.analyses import AnalysisError
from model.hosts.client_security import Secret, SecurityError, Store, Tls
from model.hosts.zookeeper.settings import ReadLimits
from spark_tasks.messages import JobFailed, SparkLost
from tui.cli.output import begun_s, progress, tell
from tui.engine.config import ClusterConfig, Config, ConfigError, Elsewhere, SaslConfig, TlsConfig, load_config
from tui.engine.messages import NOBODY, Login, Opening, Patience

if TYPE_CHECKING:
    from model.analyses.analysis import Analysis, Arrays
    from spark_tasks.spark_client import Engine, EngineResult
    from tui.engine.messages import Opening


def login_of(cluster: ClusterConfig, config: Config, key: str) -> Login:
    """What the configuration says of one cluster, which stands there under `key`. Raises ConfigError."""
    auth = config.secret(cluster.auth, f"{key}.auth")
    scheme, colon, secret = auth.partition(":")
    if auth and not (scheme and colon):
        raise config.error(f"{key}.auth", "write it as digest:user:password")
    return Login(
        credentials=((scheme, secret),) if auth else (),
        sasl=cluster.sasl and _sasl(cluster.sasl, config, key),
        tls=cluster.tls and _tls(cluster.tls, config, key),
        variables=tuple(_variables(cluster)),
    )


def _variables(cluster: ClusterConfig) -> Iterator[str]:
    """Environment variables that its secrets stand in."""
    secrets = (cluster.auth, cluster.sasl and cluster.sasl.password, cluster.tls and cluster.tls.key_password)
    yield from (secret.env for secret in secrets if isinstance(secret, Elsewhere) and secret.env)


def with_properties(login: Login, path: Path | None) -> Login:
    """The login as a client.properties has it, as far as it says anything. Raises ConfigError."""
    if path is None:
        return login
    # Only those who log in by such a file wait for its reader to load.
    from model.hosts.client_properties import read_client_properties  # noqa: PLC0415

    try:
        found = read_client_properties(path)
    except SecurityError as error:
        raise ConfigError(str(error)) from None
    return msgspec.structs.replace(
        login,
        kafka=found.kafka,
        tls=found.zookeeper or login.tls,
        warnings=found.warnings,
        variables=(*login.variables, *found.variables),
    )


def _sasl(sasl: SaslConfig, config: Config, key: str) -> dict[str, str]:
    password = config.secret(sasl.password, f"{key}.sasl.password")
    return {"mechanism": sasl.mechanism, "username": sasl.username, "password": password}


def _tls(tls: TlsConfig, config: Config, key: str) -> Tls:
    ca, certificate = config.beside(tls.ca), config.beside(tls.cert)
    for place in filter(None, (ca, certificate, config.beside(tls.key))):
        if not Path(place).is_file():
            raise config.error(f"{key}.tls", f"{place} is no file; check the path")
    own = Store(
        type="PEM",
        location=certificate,
        key_location=config.beside(tls.key),
        key_password=Secret(config.secret(tls.key_password, f"{key}.tls.key_password")),
    )
    return Tls(
        truststore=Store(type="PEM", location=ca) if ca else None,
        keystore=own if certificate else None,
        check_hostname=tls.check_hostname,
    )


Command = Callable[..., Any]


def with_all(command: Command, *options: Callable[[Command], Command]) -> Command:
    """A command with these options, which its help shows in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def with_last(command: Command, *options: Callable[[Command], Command]) -> Command:
    """As `with_all`; the help shows these behind all options that the command has of its own."""
    own = list(_shown_last_first(command))
    command = with_all(command, *options)
    shown = _shown_last_first(command)
    shown[:] = [*shown[len(own) :], *own]
    return command


def _shown_last_first(command: Command) -> list[click.Parameter]:
    """Where click notes the parameters that decorators give to a function, the first of the help last."""
    return vars(command).setdefault("__click_params__", [])


_COMMON = (
    click.option(
        "--config",
        "config_path",
        envvar="KDRILL_CONFIG",
        show_envvar=True,
        type=click.Path(path_type=Path),
        help="configuration file; default: config.toml in kdrill's folder for this platform",
    ),
    click.option("--no-color", is_flag=True, help="no colours, as with NO_COLOR"),
)


def common_options(command: Command) -> Command:
    """`--config`, which the command gets as the `config` read, and click's context as its object; `--no-color`."""

    @wraps(command)
    def with_config(config_path: Path | None, no_color: bool, **others: Any) -> Any:
        if no_color:
            os.environ["NO_COLOR"] = "1"
        config = click.get_current_context().obj = load_config(config_path)
        return command(config=config, **others)

    return with_last(with_config, *_COMMON)


def _brokers(_context: click.Context, _option: click.Parameter, text: str) -> str:
    """As Kafka's `bootstrap.servers`. Raises click.BadParameter for what is no such list."""
    if not text:
        return ""
    from model.sources.addresses import parse_kafka_address  # noqa: PLC0415 - most runs name none
    from model.sources.source import SourceError  # noqa: PLC0415

    try:
        return parse_kafka_address(text).bootstrap
    except SourceError:
        raise click.BadParameter(f"{text!r}: write host:port[,host:port…]") from None


_REACHING = (
    click.option(
        "--bootstrap",
        metavar="HOST:PORT[,…]",
        default="",
        callback=_brokers,
        help="brokers to query in addition to ZooKeeper, and to act through",
    ),
    click.option(
        "--connect-timeout",
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        help="give up when the first connection takes longer",
    ),
    click.option(
        "--timeout",
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        default=Patience().timeout_s,
        show_default=True,
        help="give up when the first load makes no progress for this long (the dashboard keeps trying)",
    ),
    click.option(
        "--poll",
        metavar="SECONDS",
        type=click.FloatRange(min=0.1),
        help="how often to poll brokers (kafka://, --bootstrap)",
    ),
    click.option(
        "--max-reads-per-second",
        metavar="N",
        type=click.FloatRange(min=1),
        help="maximum znode reads per second",
    ),
    click.option(
        "--command-config",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="log in as this client.properties says (zookeeper.ssl.* too)",
    ),
)
"""How a SOURCE is reached, in the order of the help."""


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
        for warning in opening.login.warnings:
            tell(warning)
        if bootstrap:
            opening = msgspec.structs.replace(opening, bootstrap=bootstrap)
        opening = msgspec.structs.replace(opening, connect_timeout_s=connect_timeout, poll_s=poll or opening.poll_s)
        opening = msgspec.structs.replace(opening, patience=Patience(timeout, begun_s()))
        if max_reads_per_second is not None:
            limits = msgspec.structs.replace(opening.limits, reads_per_s=max_reads_per_second)
            opening = msgspec.structs.replace(opening, limits=limits)
        return command(opening=opening, **others)

    configured = common_options(with_last(with_opening, *_REACHING))
    return with_all(configured, click.argument("source", required=False, default=""))


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

    from model.sources.addresses import NoSuchFileError, parse_source  # noqa: PLC0415
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


def _limits(cluster: ClusterConfig) -> ReadLimits:
    return ReadLimits(in_flight=cluster.max_in_flight, reads_per_s=cluster.max_reads_per_second or 0.0)


def takes_demo(command: Command) -> Command:
    """As `takes_opening`, and `--demo` in place of a SOURCE. Raises click.UsageError for both."""

    @takes_opening
    @click.option("--demo", is_flag=True, help="use an invented cluster instead of a SOURCE; output is headed DEMO")
    @wraps(command)
    def with_demo(opening: Opening, demo: bool, **others: Any) -> Any:
        if demo and click.get_current_context().params["source"]:
            raise click.UsageError("SOURCE and --demo exclude each other")
        return command(opening=Opening(is_demo=True) if demo else opening, **others)

    return with_demo


def takes_cluster(command: Command) -> Command:
    """As `takes_demo`, for commands that need one of them. Raises click.UsageError for neither."""

    @takes_demo
    @wraps(command)
    def with_cluster(opening: Opening, **others: Any) -> Any:
        if not (opening.source or opening.is_demo):
            raise click.UsageError(f"{NO_SOURCE} (--demo shows an invented one)")
        return command(opening=opening, **others)

    return with_cluster


def takes_engine(command: Command) -> Command:
    """Where the work is done, which the command gets as `engine`."""

    @click.option(
        "--engine",
        "kind",
        type=click.Choice(["auto", "here", "spark"]),
        default="auto",
        help="where to compute: in this process, on Spark, or auto: on Spark if a master is given or it is done sooner",
    )
    @click.option(
        "--spark-master",
        "master",
        metavar="URL",
        default="",
        help="local[2], spark://host:7077, yarn or k8s://https://host:port; default: local[*]",
    )
    @wraps(command)
    def with_engine(kind: Any, master: str, **others: Any) -> Any:
        if kind == "here" and master:
            raise click.UsageError("--engine here and --spark-master exclude each other")
        from spark_tasks.spark_client import Engine  # noqa: PLC0415 - takes numpy, which no help needs

        opening: Opening | None = others.get("opening")
        without = opening.login.variables if opening is not None else ()
        return command(engine=Engine(kind, master, without), **others)

    return with_engine


def compute(engine: "Engine", analysis: "Analysis[Any, Any]", arrays: "Arrays", parameters: Any) -> "EngineResult":
    """The result and where it comes from. Raises click.ClickException: one line that says why there is none."""
    from spark_tasks.engines import costs_file, run_once  # noqa: PLC0415

    try:
        with progress() as told:
            return run_once(analysis, arrays, parameters, engine, told=told, kept=costs_file())
    except (AnalysisError, JobFailed, SparkLost) as error:
        raise click.ClickException(str(error)) from None
