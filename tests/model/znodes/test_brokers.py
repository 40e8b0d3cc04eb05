"""Broker registrations, version by version."""

import pytest

from model.znodes.cluster import BrokerRegistration, Endpoint
from model.znodes.codec import decode, encode
from model.znodes.payload import Unreadable


def broker(data: bytes) -> BrokerRegistration:
    payload = decode("/brokers/ids/3", data)
    assert isinstance(payload, BrokerRegistration), payload
    return payload


def reason(data: bytes) -> str:
    payload = decode("/brokers/ids/3", data)
    assert isinstance(payload, Unreadable), payload
    return payload.reason


@pytest.mark.parametrize("timestamp", [b'"1525741823119"', b"1525741823119"])
def test_v1_has_host_and_port_and_a_timestamp_as_text_or_number(timestamp: bytes):
    v1 = broker(b'{"jmx_port":-1,"timestamp":%s,"host":"hadoop1","version":1,"port":9092}' % timestamp)
    assert v1.listeners == (Endpoint("PLAINTEXT", "hadoop1", 9092, "PLAINTEXT"),)
    assert v1.registered_ms == 1525741823119
    assert b"endpoints" not in encode(v1)
    assert timestamp in encode(v1)


def test_v2_has_endpoints():
    v2 = broker(
        b'{"version":2,"host":"h","port":9092,"jmx_port":9999,"timestamp":"1","endpoints":["PLAINTEXT://h:9092","SSL://h:9093"]}'
    )
    assert [(at.listener, at.port, at.security_protocol) for at in v2.listeners] == [
        ("PLAINTEXT", 9092, "PLAINTEXT"),
        ("SSL", 9093, "SSL"),
    ]


def test_v3_has_a_rack_or_leaves_it_out():
    v3 = b'{"jmx_port":-1,"timestamp":"1477624160337","endpoints":["PLAINTEXT://10.1.1.1:9092"],"host":"10.1.1.1","version":3,"port":9092%s}'
    assert broker(v3 % b"").rack is None
    assert b"rack" not in encode(broker(v3 % b""))
    assert broker(v3 % b',"rack":"dc1"').rack == "dc1"
    assert broker(v3 % b',"rack":null').rack is None


def test_v4_names_listeners():
    v4 = broker(
        b'{"listener_security_protocol_map":{"CLIENT":"SASL_SSL"},"endpoints":["CLIENT://[::1]:9092","PLAINTEXT://:9093"],'
        b'"jmx_port":-1,"host":null,"timestamp":"1","port":-1,"version":4}'
    )
    assert v4.listeners == (
        Endpoint("CLIENT", "::1", 9092, "SASL_SSL"),
        Endpoint("PLAINTEXT", "", 9093, "PLAINTEXT"),
    )
    assert [str(listener) for listener in v4.listeners] == list(v4.endpoints)
    assert b'"host":null' in encode(v4)
    assert b"features" not in encode(v4)


def test_v5_has_features_with_keys_kafka_once_had():
    v5 = broker(
        b'{"features":{"f":{"min_version":1,"first_active_version":2,"max_version":3}},"endpoints":["PLAINTEXT://h:1"],"version":5}'
    )
    assert (v5.features["f"].min_version, v5.features["f"].max_version) == (1, 3)
    assert v5.features["f"].extra == {"first_active_version": 2}
    assert b'"first_active_version":2' in encode(v5)


@pytest.mark.parametrize("timestamp", [b'""', b'"soon"', b"null", '"²"'.encode(), b'"99999999999999999999999999"'])
def test_a_timestamp_that_is_none_is_kept_but_not_read(timestamp: bytes):
    assert broker(b'{"version":1,"host":"h","port":1,"timestamp":%s}' % timestamp).registered_ms is None


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"version":0,"host":"h","port":1}', "version is below 1"),
        (b'{"host":"h","port":1}', "version is missing"),
        (b'{"version":1,"port":1}', "neither endpoints nor host is given"),
        (b'{"version":1,"host":"h","port":65536}', "port is above 65535"),
        (b'{"version":2,"endpoints":["h:1"]}', "endpoints[0] is not of the form LISTENER://host:port"),
        (
            b'{"version":2,"endpoints":["S://h:1","S://h:99999"]}',
            "endpoints[1] is not of the form LISTENER://host:port",
        ),
        (b'{"version":2,"endpoints":"S://h:1"}', "endpoints is text, expected a list"),
        (b'{"version":2,"endpoints":[1]}', "endpoints[0] is a whole number, expected text"),
        (b'{"version":2,"host":1}', "host is a whole number, expected text or null"),
        (b'{"version":5,"host":"h","features":{"f":{}}}', "min_version is missing in features[…]"),
        (b"[]", "the payload is a list, expected an object"),
    ],
)
def test_an_unusable_registration_says_why(data: bytes, why: str):
    assert reason(data) == why
