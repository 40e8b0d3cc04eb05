"""The configuration file: what it may hold, and what is said of one that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.hosts.client_security import KafkaSecurity, Secret, Store, Tls
from tui.cli.options import opening_of
from tui.engine.config import ConfigError, load_config
from tui.engine.messages import Login, Opening

WHOLE = """
default = "prod"
[clusters.prod]
zookeeper = ["zk1:2181", "zk2"]
chroot = "/kafka"
auth = { env = "KDRILL_TEST_AUTH" }
tls = { ca = "ca.pem", cert = "me.pem", key = "me.key", key_password = { file = "secret" } }
sasl = { username = "kdrill", password = "let me in" }
[clusters.lab]
zookeeper = ["lab:2181"]
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def refused(path: Path, text: str) -> str:
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        load_config(path)
    return str(error.value)


def test_a_name_opens_its_cluster_with_its_login(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KDRILL_TEST_AUTH", "digest:alice:pass:word")
    path.write_text(WHOLE)
    (path.parent / "secret").write_text("key secret\n")
    for name in ("ca.pem", "me.pem", "me.key"):
        (path.parent / name).touch()
    config = load_config(path)
    opening = opening_of(config.default, config)
    assert (opening.source, opening.name) == ("zk://zk1:2181,zk2/kafka", "prod")
    assert opening.login.credentials == (("digest", "alice:pass:word"),)
    assert opening.login.sasl == {"mechanism": "DIGEST-MD5", "username": "kdrill", "password": "let me in"}
    folder = str(path.parent)
    own = Store(
        type="PEM",
        location=f"{folder}/me.pem",
        key_location=f"{folder}/me.key",
        key_password=Secret("key secret"),
    )
    assert opening.login.tls == Tls(truststore=Store(type="PEM", location=f"{folder}/ca.pem"), keystore=own)
    assert "pass" not in repr(opening)
    assert "let me in" not in repr(opening)
    assert "secret" not in repr(opening.login.tls)


def test_a_cluster_of_brokers_has_its_client_properties_beside_it(path: Path) -> None:
    (path.parent / "k.properties").write_text("security.protocol=SSL\n")
    path.write_text(
        "[clusters.kraft]\nkafka = ['b1:9093', 'b2']\ncommand_config = 'k.properties'\n"
        "[clusters.both]\nzookeeper = ['zk1']\nkafka = ['b1:9092']\n"
        "[clusters.lost]\nkafka = ['b1']\ncommand_config = 'none.properties'\n"
    )
    config = load_config(path)
    kraft = opening_of("kraft", config)
    assert (kraft.source, kraft.bootstrap, kraft.name) == ("kafka://b1:9093,b2", "", "kraft")
    assert kraft.login == Login(kafka=KafkaSecurity(protocol="SSL", tls=Tls()))
    both = opening_of("both", config)
    assert (both.source, both.bootstrap, both.login.kafka) == ("zk://zk1", "b1:9092", None)
    (path.parent / "other.properties").write_text("bootstrap.servers=b9\n")
    other = opening_of("kraft", config, path.parent / "other.properties").login
    assert other.kafka == KafkaSecurity()
    assert other.warnings == (f"{path.parent}/other.properties: not used: bootstrap.servers (line 1)",)
    with pytest.raises(ConfigError, match=r"none\.properties: cannot be read: No such file or directory$"):
        opening_of("lost", config)


def test_a_certificate_that_is_not_there_is_named_with_its_place(path: Path) -> None:
    path.write_text("[clusters.a]\nzookeeper = ['zk1']\ntls = { ca = 'none.pem' }\n")
    with pytest.raises(ConfigError, match=r"config\.toml:3: clusters\.a\.tls: .*none\.pem is no file; check the path"):
        opening_of("a", load_config(path))


def test_an_open_cluster_needs_no_login_and_other_sources_no_configuration(path: Path) -> None:
    path.write_text(WHOLE)
    config = load_config(path)
    assert opening_of("lab", config) == Opening(source="zk://lab:2181", name="lab")
    assert opening_of("zk://other:2181/x", config) == Opening(source="zk://other:2181/x")


def test_keys_and_theme_are_as_they_are_written(path: Path) -> None:
    path.write_text("theme = 'light'\n[keys]\nsort = 'o'\nrelated = ['s', 'F5']\n")
    config = load_config(path)
    assert config.theme == "light"
    assert config.keys == {"sort": ("o",), "related": ("s", "F5")}


def test_without_a_file_there_are_no_clusters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    config = load_config()
    assert (config.default, config.clusters) == ("", {})


def test_the_platforms_place_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "kdrill").mkdir()
    (tmp_path / "kdrill" / "config.toml").write_text(WHOLE)
    assert list(load_config().clusters) == ["prod", "lab"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("defualt = 'prod'", "1: defualt: unknown key"),
        ("\ndefault = 'prod'", "2: default: there is no [clusters.prod]"),
        ("[clusters.prod]\nchrot = '/kafka'\nzookeeper = ['zk1']", "2: clusters.prod.chrot: unknown key"),
        ("[clusters.prod]\nzookeeper = ['zk1']\ntls = { cat = 'x' }", "3: clusters.prod.tls.cat: unknown key"),
        ("[clusters.prod]\nzookeeper = 'zk1'", "2: clusters.prod.zookeeper: Expected `array`, got `str`"),
        ("[clusters.prod]", "1: clusters.prod: names no address: write zookeeper = […] or kafka = […]"),
        ("[clusters.prod]\nzookeeper = []", "1: clusters.prod: names no address: write zookeeper = […] or kafka = […]"),
        (
            "[clusters.'a.b']\n# here\nzookeeper = [\n'x',\n3]",
            "3: clusters.a.b.zookeeper[1]: Expected `str`, got `int`",
        ),
        ("clusters = 3", "1: clusters: Expected `object`, got `int`"),
        ("theme = 'pink'", "1: theme: there is no 'pink': write one of dark, light, safe, ansi, mono"),
        ("[keys]\nsort = 'o'\nview = 3", "3: keys.view: Expected `array`, got `int`"),
        ("[keys]\nsort = { x = 'o' }", "2: keys.sort: Expected `array`, got `object`"),
        ("[clusters", None),
        ("a = " + "[" * 100_000, None),
        ("a = " + "9" * 5_000, None),
        ("[clusters.prod]\nzookeeper = ['zk1']\npoll = inf", "3: clusters.prod.poll: Expected `float` <= 86400.0"),
        ("a = [\n']', # ]\n]\n[keys]\nb = 3", "1: a: unknown key"),
        ('[keys]\na = [\n\']\', # ]\n]\nb = """\n["""\nc = 3', "7: keys.c: Expected `array`, got `int`"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(path: Path, text: str, reason: str | None) -> None:
    said = refused(path, text)
    assert "\n" not in said
    assert said == (f"{path}:{reason}" if reason else said)
    assert reason or said.startswith(f"{path}: not TOML: ")


def test_a_file_that_is_named_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: no such file"):
        load_config(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        load_config(tmp_path)


@pytest.mark.parametrize(
    ("auth", "reason"),
    [
        ("'alice'", "auth: write it as digest:user:password"),
        ("{ env = 'KDRILL_NOT_SET' }", "auth: the environment variable KDRILL_NOT_SET is not set"),
        ("{ file = 'none' }", "none: no such file"),
        ("{}", "auth: write either { file = … } or { env = … }"),
    ],
)
def test_a_secret_that_cannot_be_had_is_named_when_it_is_wanted(path: Path, auth: str, reason: str) -> None:
    path.write_text(f"[clusters.prod]\nzookeeper = ['zk1']\nauth = {auth}")
    config = load_config(path)
    with pytest.raises(ConfigError) as error:
        opening_of("prod", config)
    assert str(error.value).endswith(reason)
    assert str(error.value).startswith(f"{path}:3: clusters.prod.auth: ")


@pytest.mark.parametrize(
    ("file", "reason"),
    [("~nobody.of.that.name/x", "no such file"), ("a\\u0000b", "cannot be read: embedded null byte")],
)
def test_a_secret_in_a_file_that_cannot_be(path: Path, file: str, reason: str) -> None:
    path.write_text(f'[clusters.a]\nzookeeper = ["zk1"]\nauth = {{ file = "{file}" }}')
    with pytest.raises(ConfigError, match=reason):
        opening_of("a", load_config(path))
