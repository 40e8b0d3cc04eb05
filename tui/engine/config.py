"""The configuration file: clusters by name and how to log in to them, keys, the theme. Reads; connects nowhere.

[clusters.prod-eu1]
zookeeper = ["zk1:2181", "zk2:2181"]
chroot = "/kafka"
auth = { file = "~/.kdrill-auth" }  # which holds digest:user:password; or { env = "…" }, or the text itself
tls = { ca = "ca.pem", cert = "me.pem", key = "me.key" }
sasl = { username = "kdrill", password = { env = "ZK_PASSWORD" } }
max_reads_per_second = 2000         # no more znodes are asked for; max_in_flight = 10: nor requests at a time

[clusters.prod-kraft]
kafka = ["broker1:9093"]            # beside zookeeper: brokers that are asked too
command_config = "client.properties"  # as Kafka's own tools take it with --command-config

and above it `default = "prod-eu1"` for the cluster that is opened when none is named, `theme = "light"`,
`notices = false` where nothing is to be said on the last line when something becomes critical, and `tour = false` for
a sandbox that opens without the guided tour.

[keys]
sort = "o"                          # an action's name, as `kdrill keys` has it, and one key
related = ["ctrl+o", "f5"]          # or several

An error names the file, the key and, where the file can be read as TOML, the line.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from platformdirs import user_config_path

from model.cluster.whole_file import read_text, typed_path
from model.hosts.zookeeper.settings import ReadLimits
from tui.engine.palette import THEMES

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\])*"|\'[^\']*\'|#[^\n]*|[][{}\n]', re.DOTALL
)
"""What tells where a value ends: texts and comments, which may hold brackets, and brackets."""


def line_of(text: str, key: str) -> int:
    """The line, from 1 on, on which the value at `clusters.prod.tls` begins, or what holds it; 0 where nothing does."""
    words = re.sub(r"\[.*", "", key).split(".")
    brought = list(_brought(text))
    held = (line for count in range(len(words), 0, -1) for line, document in brought if _has(document, words[:count]))
    return next(held, 0)


def _brought(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Each table and each value: the line on which it begins, and a document of it alone."""
    table = ""
    for line, statement in _statements(text):
        is_table = statement.lstrip().startswith("[")
        table = statement if is_table else table
        yield line, tomllib.loads(table if is_table else f"{table}\n{statement}")


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """The lines, those of one value grouped."""
    starts, begins, line, depth = 0, 1, 1, 0
    for token in _TOKEN.finditer(text):
        line += token[0].count("\n")
        depth += (token[0] in "[{") - (token[0] in "]}")
        if token[0] == "\n" and not depth:
            yield begins, text[starts : token.end()]
            starts, begins = token.end(), line
    yield begins, text[starts:]


def _has(value: Any, words: Sequence[str]) -> bool:
    if not words:
        return True
    names = {count: ".".join(words[:count]) for count in range(1, len(words) + 1)}  # a name may have dots itself
    return isinstance(value, dict) and any(
        name in value and _has(value[name], words[count:]) for count, name in names.items()
    )


T = TypeVar("T")


class ConfigError(Exception):
    """A configuration that cannot be used; the message is one line that names file and key."""


class Checked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of the file; keys that it does not have are refused."""


class Elsewhere(Checked, frozen=True, kw_only=True):
    """A secret kept elsewhere: in another file or in an environment variable."""

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
    """One cluster: `host:port` of its ensemble, or of brokers, or both; and how to log in."""

    zookeeper: tuple[str, ...] = ()
    kafka: tuple[str, ...] = ()
    chroot: str = ""
    auth: Secret = ""
    """`digest:user:password`, or another scheme of ZooKeeper's addauth."""
    tls: TlsConfig | None = None
    sasl: SaslConfig | None = None
    command_config: str = ""
    """A file in the format of Kafka's client.properties, relative to the configuration."""
    poll: Annotated[float, msgspec.Meta(ge=0.1, le=86_400)] | None = None
    """Seconds between two looks at brokers."""
    max_in_flight: Annotated[int, msgspec.Meta(ge=1)] = ReadLimits().in_flight
    """Requests to ZooKeeper that may be without an answer."""
    max_reads_per_second: Annotated[float, msgspec.Meta(ge=1, le=1e9)] | None = None
    """Znodes that are asked for each second; None: no ceiling."""


class _File(Checked, frozen=True, kw_only=True):
    default: str = ""
    theme: str = ""
    notices: bool = True
    tour: bool = True
    clusters: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict[str, dict[str, Any]])
    keys: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


class Config(msgspec.Struct, frozen=True):
    """What a configuration file says."""

    path: Path
    default: str = ""
    """The cluster that is opened when none is named; empty for none."""
    clusters: Mapping[str, ClusterConfig] = {}
    theme: str = ""
    """The theme to begin with; empty: the last one."""
    notices: bool = True
    """Whether what becomes critical is said on the last line."""
    tour: bool = True
    """Whether a first run on a sandbox begins with the guided tour."""
    keys: Mapping[str, tuple[str, ...]] = {}
    """Action's name → its keys as they are written; `tui.engine.keymap` knows what they mean."""
    text: str = ""
    """The file itself, to say on which line something stands."""

    def secret(self, secret: Secret, key: str) -> str:
        """The secret's value. Raises ConfigError if it cannot be read; `key` is its place in the file."""
        if isinstance(secret, str):
            return secret
        if bool(secret.env) == bool(secret.file):
            raise self.error(key, "write either { file = … } or { env = … }")
        if secret.file:
            return _text(Path(self.beside(secret.file)), f"{_place(self.path, self.text, key)}: ").strip()
        if not (found := os.environ.get(secret.env, "")):
            raise self.error(key, f"the environment variable {secret.env} is not set")
        return found

    def beside(self, path: str) -> str:
        """A path from the file, resolved against its folder; empty stays empty."""
        return path and str(self.path.parent / typed_path(path))

    def error(self, key: str, what: str) -> ConfigError:
        """An error about the value of a key."""
        return ConfigError(f"{_place(self.path, self.text, key)}: {what}")


def load_config(path: Path | None = None) -> Config:
    """The configuration at `path`, or in the platform's place, where there need not be one. Raises ConfigError."""
    if path is None:
        path = user_config_path("kdrill", appauthor=False) / "config.toml"
        if not path.exists():
            return Config(path)
    text = _text(path)
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not TOML: {error}") from None
    file = _checked(document, _File, path=path, text=text)
    check = partial(_checked, path=path, text=text)
    clusters = {name: check(raw, ClusterConfig, key=f"clusters.{name}") for name, raw in file.clusters.items()}
    keys = {
        name: check((raw,) if isinstance(raw, str) else raw, tuple[str, ...], key=f"keys.{name}")
        for name, raw in file.keys.items()
    }
    config = Config(
        path=path,
        default=file.default,
        clusters=clusters,
        theme=file.theme,
        notices=file.notices,
        tour=file.tour,
        keys=keys,
        text=text,
    )
    for name, cluster in clusters.items():
        if not (cluster.zookeeper or cluster.kafka):
            raise config.error(f"clusters.{name}", "names no address: write zookeeper = […] or kafka = […]")
    if config.default and config.default not in clusters:
        raise config.error("default", f"there is no [clusters.{config.default}]")
    if config.theme and config.theme not in THEMES:
        raise config.error("theme", f"there is no {config.theme!r}: write one of {', '.join(THEMES)}")
    return config


def _place(path: Path, text: str, key: str) -> str:
    """`config.toml:3: clusters.prod.chrot`."""
    line = line_of(text, key)
    return f"{path}:{line}: {key}" if line else f"{path}: {key}"


def _text(path: Path, about: str = "") -> str:
    try:
        return read_text(path)
    except FileNotFoundError:
        raise ConfigError(f"{about}{path}: no such file") from None
    except OSError as error:
        raise ConfigError(f"{about}{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{about}{path}: cannot be read: it is not UTF-8 text") from None
    except ValueError as error:  # a NUL in the path
        raise ConfigError(f"{about}{path}: cannot be read: {error}") from None


def _checked(value: Any, type_: type[T], *, path: Path, text: str, key: str = "") -> T:
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        # What is wrong, and its place: "… - at `$.tls.ca`".
        said, _, place = str(error).partition(" - at `$")
        where = (key + place.rstrip("`")).lstrip(".")
        if unknown := re.search(r"unknown field `(.*)`", said):
            where, said = f"{where}.{unknown[1]}".lstrip("."), "unknown key"
        raise ConfigError(f"{_place(path, text, where)}: {said}") from None
