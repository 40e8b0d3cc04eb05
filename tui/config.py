"""The configuration file: clusters by name, with what it takes to log in to them. Reads and checks; connects nowhere.

[clusters.prod-eu1]
zookeeper = ["zk1:2181", "zk2:2181"]
chroot = "/kafka"
auth = { file = "~/.kdrill-auth" }  # which holds digest:user:password; or { env = "…" }, or the text itself
tls = { ca = "ca.pem", cert = "me.pem", key = "me.key" }
sasl = { username = "kdrill", password = { env = "ZK_PASSWORD" } }

and above it `default = "prod-eu1"` for the cluster that is opened when none is named.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from platformdirs import user_config_path

T = TypeVar("T")


class ConfigError(Exception):
    """A configuration that cannot be used; the message is one line that names file and key."""


class Checked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of the file; keys that it does not have are refused."""


class Elsewhere(Checked, frozen=True, kw_only=True):
    """A secret that is kept out of the file: in another file, or in an environment variable."""

    file: str = ""
    env: str = ""


Secret = str | Elsewhere


class TlsConfig(Checked, frozen=True, kw_only=True):
    """PEM files; relative paths are relative to the configuration."""

    ca: str = ""
    cert: str = ""
    key: str = ""
    key_password: Secret = ""
    check_hostname: bool = True


class SaslConfig(Checked, frozen=True, kw_only=True):
    """A SASL login; DIGEST-MD5 needs username and password."""

    mechanism: Literal["DIGEST-MD5", "GSSAPI"] = "DIGEST-MD5"
    username: str = ""
    password: Secret = ""


class ClusterConfig(Checked, frozen=True, kw_only=True):
    """One cluster: `host:port` of its ensemble, and how to log in."""

    zookeeper: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    chroot: str = ""
    auth: Secret = ""
    """`digest:user:password`, or another scheme of ZooKeeper's addauth."""
    tls: TlsConfig | None = None
    sasl: SaslConfig | None = None


class _File(Checked, frozen=True, kw_only=True):
    default: str = ""
    clusters: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict[str, dict[str, Any]])


class Config(msgspec.Struct, frozen=True):
    """What a configuration file says."""

    path: Path
    default: str = ""
    """The cluster that is opened when none is named; empty for none."""
    clusters: Mapping[str, ClusterConfig] = {}

    def secret(self, secret: Secret, key: str) -> str:
        """The secret itself; raises ConfigError where it is not to be had. `key` is its place in the file."""
        if isinstance(secret, str):
            return secret
        if bool(secret.env) == bool(secret.file):
            raise self.error(key, "write either { file = … } or { env = … }")
        if secret.file:
            return _text(Path(self.beside(secret.file)), f"{self.path}: {key}: ").strip()
        if not (found := os.environ.get(secret.env, "")):
            raise self.error(key, f"the environment variable {secret.env} is not set")
        return found

    def beside(self, path: str) -> str:
        """A path in the file, which is relative to the file; none for none."""
        return path and str(self.path.parent / Path(path).expanduser())

    def error(self, key: str, what: str) -> ConfigError:
        """What is wrong with the value of a key."""
        return ConfigError(f"{self.path}: {key}: {what}")


def load_config(path: Path | None = None) -> Config:
    """The configuration at `path`, or in the platform's place, where there need not be one. Raises ConfigError."""
    if path is None:
        path = user_config_path("kdrill", appauthor=False) / "config.toml"
        if not path.exists():
            return Config(path)
    try:
        document = tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not TOML: {error}") from None
    file = _checked(document, _File, path)
    clusters = {name: _checked(raw, ClusterConfig, path, f"clusters.{name}") for name, raw in file.clusters.items()}
    if file.default and file.default not in clusters:
        raise ConfigError(f"{path}: default: there is no [clusters.{file.default}]")
    return Config(path, file.default, clusters)


def _text(path: Path, about: str = "") -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{about}{path}: no such file") from None
    except OSError as error:
        raise ConfigError(f"{about}{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{about}{path}: cannot be read: it is not UTF-8 text") from None


def _checked(value: Any, type_: type[T], path: Path, key: str = "") -> T:
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        # What is wrong, and its place: "… - at `$.tls.ca`".
        said, _, place = str(error).partition(" - at `$")
        where = (key + place.rstrip("`")).lstrip(".")
        if unknown := re.search(r"unknown field `(.*)`", said):
            where, said = f"{where}.{unknown[1]}".lstrip("."), "unknown key"
        raise ConfigError(f"{path}: {where}: {said}" if where else f"{path}: {said}") from None
