"""No credential passes the redaction, and what is no secret stays."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.texts import HIDDEN
from model.cluster.texts import is_sensitive_name as is_sensitive
from model.znodes.codec import decode, redact
from model.znodes.configs import EntityConfig

SECRET = "hunter2-c2FsdA"
SCRAM = {"SCRAM-SHA-256": f"salt={SECRET},stored_key=x,server_key=y,iterations=4096"}


@pytest.mark.parametrize(
    "name",
    [
        "ssl.key.password",
        "listener.name.client.ssl.keystore.password",
        "ssl.keystore.key",
        "ssl.keystore.certificate.chain",
        "ssl.truststore.certificates",
        "sasl.jaas.config",
        "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config",
        "password.encoder.secret",
        "password.encoder.old.secret",
        "delegation.token.master.key",
        "SCRAM-SHA-512",
        "ssl.TRUSTSTORE.PassWord",
        "hmac",
    ],
)
def test_names_that_hint_at_a_secret(name: str):
    assert is_sensitive(name)


@pytest.mark.parametrize("name", ["retention.ms", "producer_byte_rate", "tokenId", "min.insync.replicas", "owner"])
def test_names_that_do_not(name: str):
    assert not is_sensitive(name)


def test_scram_credentials_are_hidden_and_quotas_stay():
    data = json.dumps({"version": 1, "config": {**SCRAM, "producer_byte_rate": "1024", "new.thing": SECRET}}).encode()
    for path in ("/config/users/alice", "/config/users/alice/clients/c"):
        payload = decode(path, redact(path, data))
        assert isinstance(payload, EntityConfig)
        assert payload.config == {"SCRAM-SHA-256": HIDDEN, "producer_byte_rate": "1024", "new.thing": HIDDEN}


def test_secret_broker_configs_are_hidden_and_others_stay():
    data = json.dumps({"version": 1, "config": {"ssl.key.password": SECRET, "num.io.threads": "8"}}).encode()
    payload = decode("/config/brokers/1", redact("/config/brokers/1", data))
    assert payload == EntityConfig(config={"ssl.key.password": HIDDEN, "num.io.threads": "8"})


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("/config/users/u", '{"version":1,"config":{"SCRAM-SHA-256":"%s"'),
        ("/config/users/u", '{"config":{"SCRAM-SHA-256":"%s"},"config":{}}'),
        ("/config/brokers/1", '{"config":{"a":{"b":[{"ssl.key.password":"%s"}]}}}'),
        ("/config/topics/t", '{"password":"%s","config":{}}'),
        ("/config/users/u", '["%s'),
        ("/delegation_token/tokens/t", '{"tokenId":"t","hmac":"%s"}'),
        ("/delegation_token/tokens/t", "%s"),
        ("/somebody/else", '{"password":"%s"}'),
        ("/somebody/else", "password=%s"),
    ],
)
def test_a_secret_does_not_pass_in_any_shape(path: str, data: str):
    assert SECRET.encode() not in redact(path, (data % SECRET).encode())


@pytest.mark.parametrize("path", ["/brokers/topics/t", "/controller", "/consumers/g/owners/t/0", "/somebody/else"])
def test_other_payloads_stay_as_they_are(path: str):
    assert redact(path, b'{ "any" : "thing"') == b'{ "any" : "thing"'
    assert redact(path, b"") == b""


@given(st.dictionaries(st.text(max_size=8), st.just(SECRET)), st.sampled_from(["SCRAM-SHA-256", "x"]))
def test_no_value_of_a_user_passes(config: dict[str, str], mechanism: str):
    data = json.dumps({"version": 1, "config": {**config, mechanism: SECRET}}).encode()
    assert SECRET.encode() not in redact("/config/users/u", data)
