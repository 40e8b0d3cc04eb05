"""Sources that cannot be had say why, in one line, and end; those that can be had in part show that part."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from kazoo.security import make_digest_acl

from model.hosts.zookeeper.settings import Credential
from model.sandbox.processes import free_port
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from model.sources.feed import Moment
from model.sources.source import Phase
from model.sources.zookeeper.zookeeper_source import FollowerTiming
from tests.harness.zookeeper import kazoo
from tests.zookeeper.counting_proxy import CountingProxy
from tests.zookeeper.followed import facts, followed, loaded
from tests.zookeeper.kafka_life import KafkaLife

IMPATIENT = FollowerTiming(connect_s=0.5, refused_s=0.1)
LONG = FollowerTiming(connect_s=600.0, refused_s=0.3)
"""Whoever waits for all of it fails the test."""

QUICK = FollowerTiming(verify_s=0.1, resync_pause_s=0.1)
OWNER = Credential("digest", "kafka:secret")


def last_words(address: str, phase: Phase = "closed", **options: Any) -> str:
    """Why a source ended before it had an image."""
    with followed(address, **options) as source:
        ended = source.phase(phase)
        assert not ended.image.provenance.complete
        assert ended.status.reason.startswith(f"zk://{address}: ")
        assert ended.status.reason.isprintable()
        return ended.status.reason.removeprefix(f"zk://{address}: ")


def test_connections_refused() -> None:
    host = f"127.0.0.1:{free_port(0)}"
    assert last_words(host, timing=LONG) == f"{host}: Connection refused"


def test_a_host_that_cannot_be_resolved() -> None:
    assert last_words("no-such-host.invalid:2181", timing=LONG).startswith("cannot resolve host no-such-host.invalid")


def test_a_host_that_does_not_answer(proxy: CountingProxy) -> None:
    proxy.swallow()
    assert last_words(proxy.address, timing=IMPATIENT) == "no answer"


def test_one_good_host_is_enough(zookeeper_server: EmbeddedZooKeeper, zookeeper: str) -> None:
    with closing(KafkaLife(zookeeper, 1)) as life:
        life.found(topics=1)
        bad = f"127.0.0.1:{free_port(0)}"
        with followed(f"{bad},no-such-host.invalid:2181,{zookeeper}", timing=LONG) as source:
            assert facts(source.phase("live").image) == loaded(zookeeper)


def test_a_chroot_that_is_not_there(zookeeper: str) -> None:
    chroot = zookeeper[zookeeper.index("/") :]
    reason = last_words(f"{zookeeper}/nowhere")
    assert reason.startswith(f"chroot {chroot}/nowhere does not exist on ")
    assert "; its root has: " in reason


def test_a_tree_that_is_not_kafkas(zookeeper: str) -> None:
    assert last_words(zookeeper) == (
        "no Kafka cluster here: there is neither /brokers/ids nor /brokers/topics (is a chroot missing?)"
    )


def test_a_scheme_the_server_does_not_know_is_denied(zookeeper: str) -> None:
    wrong = Credential("nonsense", "kafka:secret")
    assert "authentication failed" in last_words(zookeeper, "denied", credentials=[wrong])


@pytest.fixture
def guarded(zookeeper: str) -> Iterator[Any]:
    """A cluster, and a client that may take permissions away: only OWNER may read what `guard` names."""
    with closing(KafkaLife(zookeeper, 1)) as life:
        life.found(topics=3)
        with kazoo(zookeeper, auth_data=[(OWNER.scheme, OWNER.secret)]) as client:
            yield client


def guard(client: Any, *paths: str) -> None:
    for path in paths:
        client.set_acls(path, [make_digest_acl("kafka", "secret", all=True)])


def test_no_permission_on_the_brokers(guarded: Any, zookeeper: str) -> None:
    guard(guarded, "/brokers/ids", "/brokers/topics")
    said = "no permission to read /brokers/ids: give this session credentials that may read it"
    assert last_words(zookeeper) == said
    # A wrong password is no error to ZooKeeper: it only makes this session somebody else.
    assert last_words(zookeeper, credentials=[Credential("digest", "kafka:wrong")]) == said
    with followed(zookeeper, credentials=[OWNER]) as source:
        assert source.phase("live").image.unreadable == {}


def test_no_permission_on_some_znodes(guarded: Any, zookeeper: str) -> None:
    topic = guarded.get_children("/brokers/topics")[0]
    state = f"/brokers/topics/{topic}/partitions/0/state"
    whole = loaded(zookeeper)
    guard(guarded, state, "/config/users")
    with followed(zookeeper, timing=QUICK) as source:
        live = source.phase("live")
        image = live.image
        assert image.unreadable == dict.fromkeys((state, "/config/users"), "no permission to read it")
        assert {each.subject for each in live.findings.found if each.kind == "unreadable"} == {state, "/config/users"}
        assert image.brokers == whole.brokers
        assert {name: part for name, part in image.topics.items() if name != topic} == {
            name: part for name, part in whole.topics.items() if name != topic
        }
        assert image.topics[topic].has_state.tolist() == [False] + [True] * (len(image.topics[topic]) - 1)

        # No watch tells that it may be read again, or that it is gone.
        guarded.delete("/config/users")
        source.until_now(lambda moment: set(moment.image.unreadable) == {state})
        guarded.set_acls(state, guarded.get_acls("/brokers")[0])
        source.until_now(is_whole)
        assert facts(source.now.image) == whole
        assert source.phases == ["connecting", "loading", "live"]


def is_whole(moment: Moment) -> bool:
    return not moment.image.unreadable
