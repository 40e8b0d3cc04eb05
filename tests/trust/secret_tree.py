"""Canaries in a cluster's znodes, everywhere that Kafka keeps secrets, and where plug-ins and operators put theirs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from model.zookeeper import Create, SetData, Write
from tests.trust.canaries import canary

USER, CLIENT = "alice", "app"
TOKEN = "tok-1"

BROKER_SECRETS = (
    "ssl.keystore.password",
    "ssl.key.password",
    "ssl.truststore.password",
    "ssl.keystore.key",
    "ssl.keystore.certificate.chain",
    "ssl.truststore.certificates",
    "sasl.jaas.config",
    "listener.name.internal.ssl.key.password",
    "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config",
    "password.encoder.secret",
    "delegation.token.secret.key",
    "zookeeper.ssl.keystore.password",
    "sasl.oauthbearer.client.credentials.client.secret",
    "sasl.oauthbearer.assertion.private.key.passphrase",
    "my.plugin.api.key",
    "my.plugin.accessKey",
    "my.plugin.db.pwd",
    "vendor.unknown.passwd",
    "remote.storage.s3.secret",
)
"""Settings of type PASSWORD in Kafka's definitions, and some that look like it."""


def _config(settings: Mapping[str, str]) -> bytes:
    return json.dumps({"version": 1, "config": settings}).encode()


def settings_of(entity: str) -> dict[str, str]:
    """Secrets beside what is none."""
    return {name: canary(f"{entity} {name}") for name in BROKER_SECRETS}


def scram(entity: str, again: str = "") -> dict[str, str]:
    """A user's credentials, as Kafka keeps them, and a setting that nobody knows."""
    return {
        "SCRAM-SHA-256": f"salt={canary(entity + '256s' + again)},stored_key={canary(entity + '256k' + again)},"
        f"server_key={canary(entity + '256v' + again)},iterations=4096",
        "SCRAM-SHA-512": f"salt={canary(entity + '512' + again)},stored_key=a,server_key=b,iterations=4096",
        "producer_byte_rate": "1024",
        "unheard.of": canary(f"{entity} unheard of{again}"),
    }


def znodes(topic: str, broker: int) -> Iterator[tuple[str, bytes]]:
    """Path and payload; the topic and the broker are there already."""
    yield f"/config/users/{USER}", _config(scram(USER))
    yield f"/config/users/{USER}/clients", b""
    yield f"/config/users/{USER}/clients/{CLIENT}", _config(scram(f"{USER}/{CLIENT}"))
    yield "/config/users/mallory", f'{{"version":1,"config":{{"SCRAM-SHA-256":"{canary("broken")}"'.encode()
    yield f"/config/brokers/{broker}", _config({"num.io.threads": "9", **settings_of("broker")})
    yield "/config/brokers/<default>", _config(settings_of("brokers"))
    yield f"/config/topics/{topic}", _config({"retention.ms": "60000", **settings_of("topic")})
    yield "/config/clients/app", _config({"producer_byte_rate": "5", "token": canary("client token")})
    notice = {"version": 2, "entity_path": f"users/{USER}", "config": scram("change")}
    yield "/config/changes/config_change_0000000777", json.dumps(notice).encode()
    token = {"version": 3, "tokenId": TOKEN, "owner": "User:alice", "hmac": canary("hmac"), "password": canary("tpw")}
    yield f"/delegation_token/tokens/{TOKEN}", json.dumps(token).encode()
    yield f"/delegation_token/tokens/{TOKEN}-broken", canary("broken token").encode()
    yield "/somebody/vault", json.dumps({"nested": [{"db": {"Password": canary("nested")}}]}).encode()
    yield "/somebody/text", f"user=x\npassword={canary('text')}\n".encode()


PARENTS = ("/delegation_token", "/delegation_token/tokens", "/somebody")


def writes(topic: str, broker: int) -> list[Write]:
    """All of them, over the demo cluster's tree."""
    every = [*((path, b"") for path in PARENTS), *znodes(topic, broker)]
    written_over = f"/config/topics/{topic}"
    return [SetData(path, data) if path == written_over else Create(path, data) for path, data in every]


def changes(topic: str) -> list[Write]:
    """Another life of some of them, for whatever tells two versions apart."""
    return [
        SetData(f"/config/users/{USER}", _config(scram(USER, "again"))),
        SetData(f"/config/topics/{topic}", _config({"retention.ms": "5", "ssl.key.password": canary("changed")})),
        SetData("/somebody/text", f"password: {canary('changed text')}".encode()),
    ]
