"""Configs, their change notifications in three forms, and sanitised names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.znodes.codec import decode, encode, payload_version
from model.znodes.configs import ConfigChange, EntityConfig, desanitise, sanitise
from model.znodes.payload import Unreadable

CHANGE = "/config/changes/config_change_0000000000"


@pytest.mark.parametrize(
    "path",
    [
        "/config/topics/t",
        "/config/clients/c",
        "/config/clients/<default>",
        "/config/users/u",
        "/config/users/u/clients/c",
        "/config/users/<default>/clients/<default>",
        "/config/brokers/1",
        "/config/brokers/<default>",
        "/config/ips/10.0.0.1",
    ],
)
def test_a_config_is_a_mapping_of_text(path: str):
    golden = b'{"version":1,"config":{"retention.ms":"1000","cleanup.policy":"compact"}}'
    payload = decode(path, golden)
    assert isinstance(payload, EntityConfig)
    assert payload.config == {"retention.ms": "1000", "cleanup.policy": "compact"}
    assert encode(payload) == golden


def test_a_config_without_configs_is_empty():
    assert decode("/config/topics/t", b'{"version":1}') == EntityConfig()
    assert decode("/config/topics/t", None) is None


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"version":1,"config":{"retention.ms":1000}}', "config[…] is a whole number, expected text"),
        (b'{"version":1,"config":[]}', "config is a list, expected an object"),
    ],
)
def test_an_unusable_config_says_why(data: bytes, why: str):
    payload = decode("/config/topics/t", data)
    assert isinstance(payload, Unreadable)
    assert payload.reason == why


@pytest.mark.parametrize(
    ("data", "version", "entity"),
    [
        (b'"orders"', 0, "topics/orders"),
        (b'{"version":1,"entity_type":"clients","entity_name":"c"}', 1, "clients/c"),
        (b'{"version":2,"entity_path":"users/u/clients/c"}', 2, "users/u/clients/c"),
    ],
)
def test_a_change_names_its_entity_in_every_version(data: bytes, version: int, entity: str):
    change = decode(CHANGE, data)
    assert isinstance(change, ConfigChange)
    assert payload_version(change) == version
    assert change.entity == entity
    assert encode(change) == data


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"version":1,"entity_type":"topics"}', "entity_type or entity_name is missing"),
        (b'{"version":2,"entity_type":"topics","entity_name":"t"}', "entity_path is missing"),
        (b'{"entity_path":"topics/t"}', "version is missing"),
        (b'"orders', "the JSON stops too early"),
        (b"orders", "is not JSON (at byte 0)"),
    ],
)
def test_an_unusable_change_says_why(data: bytes, why: str):
    payload = decode(CHANGE, data)
    assert isinstance(payload, Unreadable)
    assert payload.reason == why


def test_the_values_of_a_config_are_not_in_its_repr():
    assert "hunter2" not in repr(EntityConfig(config={"ssl.key.password": "hunter2"}))


def test_names_are_sanitised_as_kafka_does():
    assert sanitise("CN=a b*~,O=é") == "CN%3Da%20b%2A%7E%2CO%3D%C3%A9"
    assert sanitise("<default>") != "<default>"
    assert desanitise("a+b%zz%ff") == "a b%zz\ufffd"


@given(st.text())
def test_a_sanitised_name_comes_back_and_is_one_segment(name: str):
    assert desanitise(sanitise(name)) == name
    assert "/" not in sanitise(name)
