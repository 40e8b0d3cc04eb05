"""Lists and requests beyond jute.maxbuffer: what a server tells may be longer, what it is asked may not."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from model.znodes import paths
from tests.zookeeper.conftest import OpenReader
from tests.zookeeper.followed import followed
from tests.zookeeper.kafka_life import KafkaLife

MAX_BUFFER = 0xFFFFF
"""ZooKeeper's default for jute.maxbuffer (org.apache.jute.BinaryInputArchive)."""

NAMES = [f"{number:04}{'x' * 5_996}" for number in range(240)]
"""Their list is longer than that, and so is the request for any 200 of them."""

CONFIG = b'{"version":1,"config":{"producer_byte_rate":"1"}}'


def make_users(life: KafkaLife, names: Sequence[str]) -> None:
    for start in range(0, len(names), 20):
        transaction = life.client.transaction()
        for name in names[start : start + 20]:
            transaction.create(paths.config_path(f"users/{name}"), CONFIG)
        assert not any(isinstance(result, Exception) for result in transaction.commit())


def test_a_list_of_children_beyond_the_limit_is_loaded_and_followed(zookeeper: str) -> None:
    with closing(KafkaLife(zookeeper, 1)) as life:
        life.found(topics=2)
        make_users(life, NAMES)
        assert sum(map(len, NAMES)) > MAX_BUFFER
        with followed(zookeeper) as source:
            image = source.phase("live").image
            assert {entity.removeprefix("users/") for entity in image.configs} >= set(NAMES)
            assert image.unreadable == {}
            more = [f"{'y' * 5_000}{number}" for number in range(3)]
            make_users(life, more)
            source.until(lambda moment: {f"users/{name}" for name in more} <= set(moment.image.configs))
            assert source.phases == ["connecting", "loading", "live"]


def test_watches_on_long_paths_are_set_again(zookeeper: str, open_reader: OpenReader) -> None:
    with closing(KafkaLife(zookeeper, 1)) as life:
        life.found(topics=1)
        make_users(life, NAMES)
        address, slash, chroot = zookeeper.partition("/")
        reader, heard = open_reader(address, slash + chroot)
        heard.epoch(1)
        users = [paths.config_path(f"users/{name}") for name in NAMES]
        reader.rearm(reader.last_zxid, data=users)
        life.client.set(users[-1], CONFIG)
        assert heard.paths(users[-1]) == {users[-1]}
