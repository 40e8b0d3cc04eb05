"""kafka:// against a real broker that wants TLS and a login: every way in, and what is said at a closed door."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from kafka import KafkaAdminClient

from model.hosts.client_properties import read_client_properties
from model.hosts.tls import kafka_options
from model.sources.feed import Moment
from model.sources.source import SourceError
from tests.authority import PASSWORD as STORE_PASSWORD
from tests.authority import Authority
from tests.conformance.kafka.releases import install_or_skip
from tests.harness.command import kdrill_alone
from tests.harness.secured_broker import PASSWORD, USER, SecuredBroker, secured_broker
from tui.cli.following import follow
from tui.cli.options import opening_of
from tui.engine.config import load_config

pytestmark = pytest.mark.conformance

MODULE = "org.apache.kafka.common.security"
SCRAM = f"sasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config={MODULE}.scram.ScramLoginModule required %s;\n"
PLAIN = f"sasl.mechanism=PLAIN\nsasl.jaas.config={MODULE}.plain.PlainLoginModule required %s;\n"
BY_NAME = f'username="{USER}" password="${{env:KDRILL_TEST_PASSWORD}}"'


def java_quoted(text: str) -> str:
    """As a JAAS option within a properties file: escaped for the one, then for the other."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\\", "\\\\")


IN_THE_FILE = f'username="{USER}" password="{java_quoted(PASSWORD)}"'


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    with secured_broker(install_or_skip("3.9.1"), tmp_path_factory.mktemp("secured")) as broker:
        yield broker


@pytest.fixture(autouse=True)
def password_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KDRILL_TEST_PASSWORD", PASSWORD)


def properties(folder: Path, protocol: str, authority: Authority, *more: str) -> Path:
    path = folder / "client.properties"
    path.touch(0o600)
    trust = f"ssl.truststore.type=PEM\nssl.truststore.location={authority.certificate}\n"
    path.write_text(f"security.protocol={protocol}\n{trust}{''.join(more)}")
    return path


def keystore(store: Path) -> str:
    return f"ssl.keystore.location={store}\nssl.keystore.password={STORE_PASSWORD}\n"


def brokers(address: str, file: Path, patience_s: float = 120.0) -> list[int]:
    """Of the first image. Raises SourceError; for what another try might change, only after `patience_s`."""
    seen: list[list[int]] = []

    def see(moment: Moment) -> bool:
        seen.append(sorted(moment.image.brokers))
        return False

    opening = opening_of(f"kafka://{address}", load_config(), file)
    asyncio.run(follow(msgspec.structs.replace(opening, connect_timeout_s=patience_s), see))
    return seen[0]


@pytest.mark.parametrize(
    "login", [SCRAM % BY_NAME, SCRAM % IN_THE_FILE, PLAIN % BY_NAME, PLAIN % IN_THE_FILE], ids=range(4)
)
def test_with_a_name_and_a_password(login: str, broker: SecuredBroker, tmp_path: Path) -> None:
    file = properties(tmp_path, "SASL_SSL", broker.authority, login)
    assert brokers(broker.sasl_ssl, file) == [1]
    options = kafka_options(read_client_properties(file).kafka)
    client: Any = KafkaAdminClient(bootstrap_servers=broker.sasl_ssl, **options)
    with closing(client):
        assert client.list_topics() == []


@pytest.mark.parametrize("kind", ["keystore", "pkcs12"])
def test_with_a_certificate(kind: str, broker: SecuredBroker, tmp_path: Path) -> None:
    own = getattr(broker.authority.issue("alice"), kind)
    assert brokers(broker.ssl, properties(tmp_path, "SSL", broker.authority, keystore(own))) == [1]


def test_a_closed_door_says_why(broker: SecuredBroker, tmp_path: Path) -> None:
    def why_not(address: str, protocol: str, *more: str, authority: Authority = broker.authority) -> str:
        with pytest.raises(SourceError) as error:
            brokers(address, properties(tmp_path, protocol, authority, *more))
        said = str(error.value)
        assert said.isprintable()
        assert said.startswith(f"kafka://{address}: ")
        assert PASSWORD not in said
        assert "canary" not in said
        return said.removeprefix(f"kafka://{address}: ")

    sasl, by_name = broker.sasl_ssl, broker.sasl_ssl.replace("127.0.0.1", "localhost")
    wrong = f'username="{USER}" password="wrong-canary"'
    stranger = Authority(tmp_path, "stranger")
    strangers = keystore(stranger.issue("mallory").keystore)
    assert f"{sasl}: the login with SCRAM-SHA-512 is refused: " in why_not(sasl, "SASL_SSL", SCRAM % wrong)
    assert f"{sasl}: the login with PLAIN is refused: " in why_not(sasl, "SASL_SSL", PLAIN % wrong)
    not_enabled = why_not(sasl, "SASL_SSL", SCRAM.replace("512", "256") % BY_NAME)
    assert "the login with SCRAM-SHA-256 is refused: UNSUPPORTED_SASL_MECHANISM; check sasl.mechanism" in not_enabled
    untrusted = why_not(sasl, "SASL_SSL", SCRAM % BY_NAME, authority=stranger)
    assert f"{sasl}: the server's certificate is not trusted (" in untrusted
    assert f"{by_name}: the server's certificate is for other names (" in why_not(by_name, "SASL_SSL", SCRAM % BY_NAME)
    assert "the server speaks TLS here, and we do not" in why_not(sasl, "SASL_PLAINTEXT", SCRAM % BY_NAME)
    assert "the server does not take our certificate" in why_not(broker.ssl, "SSL")
    assert "the server does not take our certificate" in why_not(broker.ssl, "SSL", strangers)
    with pytest.raises(SourceError, match=r"the server ended the TLS handshake: is this a plain port\?"):
        brokers(broker.plain, properties(tmp_path, "SSL", broker.authority), patience_s=5.0)


def test_the_command_says_it_in_one_line_without_secrets(broker: SecuredBroker, tmp_path: Path) -> None:
    wrong = f'username="{USER}" password="wrong-canary"'
    file = properties(tmp_path, "SASL_SSL", broker.authority, SCRAM % wrong, "acks=all\n")
    file.chmod(0o644)
    done = kdrill_alone("status", f"kafka://{broker.sasl_ssl}", "--command-config", file)
    lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout, len(lines)) == (1, "", 3)
    assert lines[0] == f"kdrill: {file}: not used: acks (line 6)"
    assert lines[1].endswith("holds a secret and everybody on this machine may read it: chmod o-r")
    assert "the login with SCRAM-SHA-512 is refused" in lines[2]
    assert "canary" not in done.stderr
