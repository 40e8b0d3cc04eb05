"""A quorum of three real controllers of KRaft that wants TLS, and a login or a certificate; node 1 is a broker, too."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from confluent_kafka.admin import (
    AclBinding,  # pyright: ignore[reportPrivateImportUsage]
    AclOperation,  # pyright: ignore[reportPrivateImportUsage]
    AclPermissionType,  # pyright: ignore[reportPrivateImportUsage]
    AdminClient,
    ResourcePatternType,  # pyright: ignore[reportPrivateImportUsage]
    ResourceType,  # pyright: ignore[reportPrivateImportUsage]
)

from tests.authority import Authority
from tests.conformance.kafka.releases import Installation
from tests.harness.kafka import KafkaProcess, free_ports
from tests.harness.kraft import format_storage
from tests.harness.waiting import eventually

SECRET = "quorum-canary"
"""The password of everybody."""
FOLLOWER, STRANGER, NO_FOLLOWER = "alice", "carol", "bob"
"""Who may read the metadata log; whom brokers know and controllers do not; and who may log in there, and no more."""
Protocol = Literal["SSL", "SASL_SSL"]
_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"


class SecuredQuorum(NamedTuple):
    """`brokers` listens for the same protocol as the controllers. Certificates are for 127.0.0.1."""

    brokers: str
    plain: str
    controllers: str
    authority: Authority
    protocol: Protocol


@contextmanager
def secured_quorum(kafka: Installation, folder: Path, protocol: Protocol) -> Iterator[SecuredQuorum]:
    """For as long as the context. By SSL controllers want a certificate of the authority, and brokers none."""
    ports = [*islice(free_ports(), 5)]
    brokers, plain, *controllers = (f"127.0.0.1:{port}" for port in ports)
    quorum = SecuredQuorum(brokers, plain, ",".join(controllers), Authority(folder), protocol)
    nodes = {number: KafkaProcess(kafka.in_kraft(), folder / f"node-{number}") for number in (1, 2, 3)}
    for number in nodes:
        _write(kafka, folder, quorum, number)
    try:
        for node in nodes.values():
            node.start()
        eventually(lambda: nodes[1].accepts(ports[0], ports[1]), "the broker to serve", 150)
        if protocol == "SASL_SSL":
            _permit(plain)
        yield quorum
    finally:
        for node in nodes.values():
            node.kill()


def _permit(plain: str) -> None:
    """Who may do what: without a rule nobody may anything."""
    rights = {FOLLOWER: (AclOperation.CLUSTER_ACTION,), NO_FOLLOWER: (), STRANGER: ()}
    looking = (AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS)
    rules = [
        AclBinding(
            ResourceType.BROKER, "kafka-cluster", ResourcePatternType.LITERAL, f"User:{user}", "*", operation,
            AclPermissionType.ALLOW,
        )
        for user, more in rights.items()
        for operation in (*looking, *more)
    ]  # fmt: skip

    def is_permitted() -> bool:
        """A broker that just begins to listen may leave the request without an answer."""
        admin = AdminClient({"bootstrap.servers": plain, "log_level": 0})
        with suppress(TimeoutError):
            return all(each.exception(10) is None for each in admin.create_acls(rules, request_timeout=5).values())
        return False

    eventually(is_permitted, "rules for who may do what", 90)


def _write(kafka: Installation, folder: Path, quorum: SecuredQuorum, number: int) -> None:
    """A node's settings, and its folder as the tool would format it, without a JVM for each."""
    own = folder / f"node-{number}"
    own.mkdir()
    properties = own / "server.properties"
    properties.write_text("".join(f"{key}={value}\n" for key, value in _settings(own, quorum, number).items()))
    if number == 1:
        format_storage(kafka, properties)
        return
    shutil.copytree(folder / "node-1" / "logs", own / "logs")
    meta = own / "logs" / "meta.properties"
    lines = (line for line in meta.read_text().splitlines() if not line.startswith(("node.id", "directory.id")))
    meta.write_text("\n".join((*lines, f"node.id={number}", f"directory.id=AAECAwQFBgcICQoLDA0OD{number}", "")))


def _settings(own: Path, quorum: SecuredQuorum, number: int) -> dict[str, str]:
    controllers = quorum.controllers.split(",")
    listeners = {"CONTROLLER": controllers[number - 1]}
    if number == 1:
        listeners |= {"BROKERS": quorum.brokers, "PLAINTEXT": quorum.plain}
    shown = ",".join(f"{name}://{at}" for name, at in listeners.items())
    return {
        "process.roles": "broker,controller" if number == 1 else "controller",
        "node.id": str(number),
        "controller.quorum.voters": ",".join(f"{each}@{at}" for each, at in enumerate(controllers, 1)),
        "controller.listener.names": "CONTROLLER",
        "listeners": shown,
        "listener.security.protocol.map": f"CONTROLLER:{quorum.protocol},BROKERS:{quorum.protocol},PLAINTEXT:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": str(own / "logs"),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(quorum.authority.issue(f"node-{number}", "127.0.0.1").plain_keystore),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(quorum.authority.certificate),
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "num.network.threads": "1",
        "num.io.threads": "2",
        "log.cleaner.enable": "false",
        **(_by_certificate() if quorum.protocol == "SSL" else _by_login()),
    }


def _by_certificate() -> dict[str, str]:
    return {"listener.name.controller.ssl.client.auth": "required"}


def _by_login() -> dict[str, str]:
    def known(*users: str) -> str:
        return " ".join(f'user_{user}="{SECRET}"' for user in users)

    own = f'username="admin" password="{SECRET}"'
    return {
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.controller.protocol": "PLAIN",
        "listener.name.controller.plain.sasl.jaas.config": f"{_LOGIN} {own} {known('admin', FOLLOWER, NO_FOLLOWER)};",
        "listener.name.brokers.plain.sasl.jaas.config": f"{_LOGIN} {known(FOLLOWER, NO_FOLLOWER, STRANGER)};",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:admin;User:ANONYMOUS",
    }
