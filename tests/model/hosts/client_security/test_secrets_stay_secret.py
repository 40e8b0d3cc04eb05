"""Canaries in every place where a secret may stand: none is shown, logged, traced or in another program's arguments."""

from __future__ import annotations

import logging
import os
import traceback
from pathlib import Path

import pytest
from kafka import KafkaAdminClient

from model.hosts.client_properties import read_client_properties
from model.hosts.client_security import Secret, SecurityError, Store, Tls
from model.hosts.tls import kafka_options, tls_context
from tests.authority import Authority
from tui.engine.messages import Login, Opening

CANARY = "canary-4711"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"

FILE = f"""
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config={SCRAM} required username="alice" password="{CANARY}";
sasl.password={CANARY}
ssl.truststore.location=trust.jks
ssl.truststore.password={CANARY}
ssl.keystore.certificate.chain=-----BEGIN CERTIFICATE-----
ssl.keystore.key={CANARY}
ssl.key.password={CANARY}
zookeeper.ssl.client.enable=true
zookeeper.ssl.keystore.location=trust.jks
zookeeper.ssl.keystore.password={CANARY}
an.unknown.password={CANARY}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "trust.jks").touch()
    path = tmp_path / "client.properties"
    path.write_text(FILE)
    return path


def test_values_show_no_secret(path: Path) -> None:
    found = read_client_properties(path)
    opening = Opening(login=Login(kafka=found.kafka, tls=found.zookeeper, warnings=found.warnings))
    for value in (found, found.kafka, found.zookeeper, opening, opening.login.kafka, *found.warnings):
        assert CANARY not in repr(value)
        assert CANARY not in str(value)
    assert found.kafka.sasl
    assert found.kafka.sasl.password.text == CANARY


def test_what_fails_shows_none_in_a_trace_with_locals(path: Path) -> None:
    found = read_client_properties(path)
    with pytest.raises(SecurityError) as error:
        kafka_options(found.kafka)
    trace = traceback.TracebackException.from_exception(error.value, capture_locals=True)
    text = "".join(trace.format())
    assert "tls_context" in text
    assert CANARY not in text


def test_kafka_python_logs_none(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.write_text(FILE.replace("SASL_SSL", "SASL_PLAINTEXT"))
    options = kafka_options(read_client_properties(path).kafka)
    assert options["sasl_plain_password"] == CANARY
    caplog.set_level(logging.DEBUG)
    with pytest.raises(Exception, match="Unable to bootstrap"):
        KafkaAdminClient(bootstrap_servers="127.0.0.1:1", bootstrap_timeout_ms=1, **options)  # pyright: ignore[reportCallIssue]
    assert "alice" in caplog.text  # it does log its configuration
    assert CANARY not in caplog.text


def test_no_program_is_given_one_as_an_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = tmp_path / "recorded"
    for name in ("keytool", "openssl"):
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\necho {name} "$@" "with=$KDRILL_STORE_PASSWORD" >> {recorded}\n')
        program.chmod(0o755)
    monkeypatch.delenv("KDRILL_JAVA", raising=False)
    monkeypatch.setenv("JAVA_HOME", "/none")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    store = Store(location=str(Authority(tmp_path).issue("alice").pkcs12), password=Secret(CANARY))
    for tls in (Tls(truststore=store), Tls(keystore=store)):
        with pytest.raises(SecurityError):
            tls_context(tls)
    lines = [line.partition("with=") for line in recorded.read_text().splitlines()]
    assert [line[0].split()[0] for line in lines] == ["keytool", "keytool", "openssl"]
    assert [line[2] for line in lines] == [CANARY, CANARY, ""]
    assert not any(CANARY in line[0] for line in lines)
