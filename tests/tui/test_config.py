"""The configuration file: what it may hold, and what is said of one that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui.command_line.options import opening_of
from tui.config import ConfigError, load_config
from tui.data.opening import Opening

WHOLE = """
default = "prod"
[clusters.prod]
zookeeper = ["zk1:2181", "zk2"]
chroot = "/kafka"
auth = { env = "KDRILL_TEST_AUTH" }
tls = { ca = "ca.pem", cert = "/etc/me.pem", key = "me.key", key_password = { file = "secret" } }
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
    return str(error.value).removeprefix(f"{path}: ")


def test_a_name_opens_its_cluster_with_its_login(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KDRILL_TEST_AUTH", "digest:alice:pass:word")
    path.write_text(WHOLE)
    (path.parent / "secret").write_text("key secret\n")
    config = load_config(path)
    opening = opening_of(config.default, config)
    assert (opening.source, opening.name) == ("zk://zk1:2181,zk2/kafka", "prod")
    assert opening.login.credentials == (("digest", "alice:pass:word"),)
    assert opening.login.sasl == {"mechanism": "DIGEST-MD5", "username": "kdrill", "password": "let me in"}
    assert opening.login.tls == {
        "ca": str(path.parent / "ca.pem"),
        "certfile": "/etc/me.pem",
        "keyfile": str(path.parent / "me.key"),
        "keyfile_password": "key secret",
        "check_hostname": True,
    }
    assert "pass" not in repr(opening)
    assert "let me in" not in repr(opening)


def test_an_open_cluster_needs_no_login_and_other_sources_no_configuration(path: Path) -> None:
    path.write_text(WHOLE)
    config = load_config(path)
    assert opening_of("lab", config) == Opening(source="zk://lab:2181", name="lab")
    assert opening_of("zk://other:2181/x", config) == Opening(source="zk://other:2181/x")


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
        ("defualt = 'prod'", "defualt: unknown key"),
        ("default = 'prod'", "default: there is no [clusters.prod]"),
        ("[clusters.prod]\nchrot = '/kafka'\nzookeeper = ['zk1']", "clusters.prod.chrot: unknown key"),
        ("[clusters.prod]\nzookeeper = ['zk1']\ntls = { cat = 'x' }", "clusters.prod.tls.cat: unknown key"),
        ("[clusters.prod]\nzookeeper = 'zk1'", "clusters.prod.zookeeper: Expected `array`, got `str`"),
        ("[clusters.prod]", "clusters.prod: Object missing required field `zookeeper`"),
        ("[clusters.prod]\nzookeeper = []", "clusters.prod.zookeeper: Expected `array` of length >= 1"),
        ("clusters = 3", "clusters: Expected `object`, got `int`"),
        ("[clusters", None),
    ],
)
def test_what_is_wrong_is_named_with_its_place(path: Path, text: str, reason: str | None) -> None:
    said = refused(path, text)
    assert "\n" not in said
    assert said == reason if reason else said.startswith("not TOML: ")


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
    assert str(error.value).startswith(f"{path}: clusters.prod.auth: ")
