"""Which settings are hidden."""

import pytest

from model.cluster.texts import is_sensitive, redacted


@pytest.mark.parametrize(
    ("entity", "key"),
    [
        ("brokers/1", "ssl.keystore.password"),
        ("brokers/1", "listener.name.internal.ssl.key.password"),
        ("brokers/<default>", "sasl.jaas.config"),
        ("brokers/1", "ssl.keystore.certificate.chain"),
        ("brokers/1", "delegation.token.secret.key"),
        ("users/alice", "SCRAM-SHA-512"),
        ("users/alice/clients/app", "anything"),
        ("topics/orders", "my.plugin.API.KEY"),
    ],
)
def test_secrets(entity: str, key: str) -> None:
    assert is_sensitive(entity, key)


@pytest.mark.parametrize(
    ("entity", "key"),
    [
        ("topics/orders", "min.insync.replicas"),
        ("users/alice", "producer_byte_rate"),
        ("brokers/1", "log.retention.ms"),
        ("ips/127.0.0.1", "connection_creation_rate"),
    ],
)
def test_no_secrets(entity: str, key: str) -> None:
    assert not is_sensitive(entity, key)


def test_redacting_keeps_the_keys() -> None:
    assert redacted("users/alice", {"SCRAM-SHA-256": "x", "producer_byte_rate": "5"}) == {
        "SCRAM-SHA-256": "[hidden]",
        "producer_byte_rate": "5",
    }
