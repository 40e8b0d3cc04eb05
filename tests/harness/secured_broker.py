"""One real broker of KRaft that is its own controller, and wants TLS and a login, or a certificate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from kafka import KafkaAdminClient

from tests.authority import Authority
from tests.conformance.kafka.releases import Installation
from tests.harness.kafka import KafkaProcess, free_ports
from tests.harness.kraft import format_storage
from tests.harness.waiting import eventually

USER, PASSWORD = "alice", 'wonder"land\\canary'
"""Known to PLAIN and SCRAM; a password that has to be quoted."""
BACKSLASH = "\\"


class SecuredBroker(NamedTuple):
    """`127.0.0.1:PORT` of each listener. The certificate is for 127.0.0.1, and not for localhost."""

    sasl_ssl: str
    ssl: str
    """Wants a certificate of the authority."""
    plain: str
    controller: str
    authority: Authority


@contextmanager
def secured_broker(kafka: Installation, folder: Path) -> Iterator[SecuredBroker]:
    """Runs it for as long as the context lasts."""
    ports = [*islice(free_ports(), 4)]
    sasl_ssl, ssl, plain, controller = (f"127.0.0.1:{port}" for port in ports)
    broker = SecuredBroker(sasl_ssl, ssl, plain, controller, Authority(folder))
    lines = (
        f"{key}={value}\n".replace(BACKSLASH, 2 * BACKSLASH) for key, value in _secured_settings(broker, folder).items()
    )
    properties = folder / "server.properties"
    properties.write_text("".join(lines))
    scram = f"SCRAM-SHA-512=[name={USER},password={PASSWORD}]"
    format_storage(kafka, properties, "--add-scram", scram)
    process = KafkaProcess(kafka.in_kraft(), folder)
    process.start()
    try:
        eventually(lambda: process.accepts(*ports[:3]), "the secured broker to serve")
        # Who accepts connections may not have read the users yet; a broker that others are told of has.
        with closing(KafkaAdminClient(bootstrap_servers=broker.plain, bootstrap_timeout_ms=60_000)):  # pyright: ignore[reportCallIssue]
            yield broker
    finally:
        process.kill()


def _secured_settings(broker: SecuredBroker, folder: Path) -> dict[str, str]:
    quoted = PASSWORD.replace(BACKSLASH, 2 * BACKSLASH).replace('"', f'{BACKSLASH}"')
    listeners = {"SASL_SSL": broker.sasl_ssl, "SSL": broker.ssl, "PLAINTEXT": broker.plain}
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{broker.controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": ",".join(f"{name}://{at}" for name, at in {**listeners, "CONTROLLER": broker.controller}.items()),
        "listener.security.protocol.map": ",".join(("CONTROLLER:PLAINTEXT", *(f"{name}:{name}" for name in listeners))),
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": (
            f'org.apache.kafka.common.security.plain.PlainLoginModule required user_{USER}="{quoted}";'
        ),
        "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": (
            "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        ),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(broker.authority.issue("broker", "127.0.0.1").plain_keystore),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(broker.authority.certificate),
        "listener.name.ssl.ssl.client.auth": "required",
        "log.dirs": str(folder / "logs"),
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "num.network.threads": "1",
        "num.io.threads": "2",
        "log.cleaner.enable": "false",
    }
