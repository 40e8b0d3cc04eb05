"""The options that commands have in common, and what SOURCE, configuration and options together open."""

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
import msgspec

from tui.config import ClusterConfig, Config, SaslConfig, TlsConfig, load_config
from tui.data.opening import Login, Opening

Command = Callable[..., Any]


def common_options(command: Command) -> Command:
    """`--config`, which the command gets as the `config` read, and `--no-color`."""

    @click.option(
        "--config",
        "config_path",
        envvar="KDRILL_CONFIG",
        type=click.Path(path_type=Path),
        help="clusters by name; default: config.toml in the platform's folder for kdrill",
    )
    @click.option("--no-color", is_flag=True, help="no colours at all, as with NO_COLOR")
    @wraps(command)
    def with_config(config_path: Path | None, no_color: bool, **others: Any) -> Any:
        if no_color:
            os.environ["NO_COLOR"] = "1"
        return command(config=load_config(config_path), **others)

    return with_config


def takes_source(command: Command) -> Command:
    """SOURCE and how to reach it, which the command gets as an `opening`; its `source` is empty where none is named."""

    @click.argument("source", required=False, default="")
    @click.option(
        "--connect-timeout",
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        help="how long the first connection may take",
    )
    @common_options
    @wraps(command)
    def with_opening(source: str, connect_timeout: float | None, config: Config, **others: Any) -> Any:
        opening = opening_of(source or config.default, config)
        return command(opening=msgspec.structs.replace(opening, connect_timeout_s=connect_timeout), **others)

    return with_opening


def opening_of(source: str, config: Config) -> Opening:
    """What a SOURCE opens: a cluster's name in the configuration goes before everything else. Raises ConfigError."""
    cluster = config.clusters.get(source)
    if cluster is None:
        return Opening(source=source)
    address = f"zk://{','.join(cluster.zookeeper)}{cluster.chroot}"
    return Opening(source=address, name=source, login=_login(cluster, config, f"clusters.{source}"))


def _login(cluster: ClusterConfig, config: Config, key: str) -> Login:
    auth = config.secret(cluster.auth, f"{key}.auth")
    scheme, colon, secret = auth.partition(":")
    if auth and not (scheme and colon):
        raise config.error(f"{key}.auth", "write it as digest:user:password")
    return Login(
        credentials=((scheme, secret),) if auth else (),
        sasl=cluster.sasl and _sasl(cluster.sasl, config, key),
        tls=cluster.tls and _tls(cluster.tls, config, key),
    )


def _sasl(sasl: SaslConfig, config: Config, key: str) -> dict[str, str]:
    password = config.secret(sasl.password, f"{key}.sasl.password")
    return {"mechanism": sasl.mechanism, "username": sasl.username, "password": password}


def _tls(tls: TlsConfig, config: Config, key: str) -> dict[str, str | bool]:
    return {
        "ca": config.beside(tls.ca),
        "certfile": config.beside(tls.cert),
        "keyfile": config.beside(tls.key),
        "keyfile_password": config.secret(tls.key_password, f"{key}.tls.key_password"),
        "check_hostname": tls.check_hostname,
    }
