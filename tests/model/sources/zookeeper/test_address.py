"""ZooKeeper addresses as operators write them, right and wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.hosts.zookeeper.settings import hosts_of
from model.sources.addresses import ZooKeeperAddress, parse_zookeeper_address
from model.sources.source import SourceError


@pytest.mark.parametrize(
    ("text", "hosts", "chroot"),
    [
        ("zk://h", "h:2181", ""),
        ("zk://h:2182", "h:2182", ""),
        ("zk://h/", "h:2181", ""),
        ("zk://h/kafka", "h:2181", "/kafka"),
        ("zk://h/a/b/", "h:2181", "/a/b"),
        ("zk://h1:1,h2,h3:3/kafka", "h1:1,h2:2181,h3:3", "/kafka"),
        ("zk://h1:1, h2:2", "h1:1,h2:2", ""),
        ("zk://[::1]", "[::1]:2181", ""),
        ("zk://[fe80::1%eth0]:2182/k", "[fe80::1%eth0]:2182", "/k"),
        ("zk://10.0.0.1:2181,zk-2.example.", "10.0.0.1:2181,zk-2.example.:2181", ""),
    ],
)
def test_good_addresses(text: str, hosts: str, chroot: str) -> None:
    address = parse_zookeeper_address(text)
    assert address == ZooKeeperAddress(hosts, chroot)
    assert parse_zookeeper_address(str(address)) == address


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("zk://", "names no host"),
        ("zk:///kafka", "names no host"),
        ("h:2181", "names no host"),
        ("zk://h:0", "'0' in 'h:0' is not a port number"),
        ("zk://h:65536", "is not a port number"),
        ("zk://h:x", "is not a port number"),
        ("zk://h:²", "is not a port number"),
        ("zk://h:-1", "is not a port number"),
        ("zk://h:", "is not a port number"),
        ("zk://:2181", "is not host:port"),
        ("zk://h,,i", "'' is not host:port"),
        ("zk://::1", "write an IPv6 address as"),
        ("zk://a b", "is not host:port"),
        ("zk://h\ni", "is not host:port"),
        ("zk://a..b", "is not host:port"),
        (f"zk://{'a' * 64}", "is not host:port"),
        ("zk://h//kafka", "has an empty part"),
        ("zk://h/a/../b", "cannot be a znode's path"),
        ("zk://h/a\x00", "cannot be a znode's path"),
    ],
)
def test_bad_addresses_are_named_in_one_line(text: str, complaint: str) -> None:
    with pytest.raises(SourceError) as error:
        parse_zookeeper_address(text)
    assert complaint in str(error.value)
    assert str(error.value).startswith(repr(text))
    assert str(error.value).isprintable()


def test_a_password_in_an_address_is_not_repeated() -> None:
    with pytest.raises(SourceError, match=r"^'zk://…@h\\x1f': no name or password belongs in an address") as error:
        parse_zookeeper_address("zk://user:secret@h\x1f")
    assert "secret" not in str(error.value)


@given(st.text(max_size=30) | st.from_regex(r"[\w.,:\[\]/-]{1,30}", fullmatch=True))
def test_any_text_is_an_address_or_an_error(text: str) -> None:
    try:
        address = parse_zookeeper_address(f"zk://{text}")
    except SourceError as error:
        said = str(error)
    else:
        assert parse_zookeeper_address(str(address)) == address
        assert len(hosts_of(address.hosts)) == address.hosts.count(",") + 1
        said = str(address)
    assert said.isprintable()
