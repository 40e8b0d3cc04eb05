"""`kafka://…` as operators write it."""

import pytest

from model.sources.addresses import KafkaAddress, parse_kafka_address, parse_source
from model.sources.source import SourceError


def test_brokers_with_and_without_ports() -> None:
    address = parse_source("kafka://a:9093, b,[::1]:1/")
    assert address == KafkaAddress((("a", 9093), ("b", 9092), ("::1", 1)))
    assert str(parse_kafka_address("a,b:1")) == "kafka://a:9092,b:1"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("kafka://", "names no broker"),
        ("kafka://a:1/chroot", "a path in 'a:1/chroot' means nothing here"),
        ("kafka://a:x", "'x' in 'a:x' is not a port number from 1 to 65535"),
        ("http://a", "write zk://host:port[/chroot], kafka://host:port, controllers://host:port or a file's path"),
    ],
)
def test_what_is_no_address_is_told_in_one_line(text: str, line: str) -> None:
    with pytest.raises(SourceError) as told:
        parse_source(text)
    assert line in str(told.value)
    assert "\n" not in str(told.value)
