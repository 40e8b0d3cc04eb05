"""kafka:// against controllers that want TLS and a login: who may follow the metadata log does, all others poll."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from model.cluster.image_parts import NO_QUORUM_LEADER
from model.sources.feed import Feed
from tests.authority import PASSWORD as STORE_PASSWORD
from tests.authority import Authority
from tests.conformance.kafka.client import Client
from tests.conformance.kafka.releases import NEWEST, install_or_skip
from tests.harness.command import kdrill_alone
from tests.harness.secured_quorum import (
    FOLLOWER,
    NO_FOLLOWER,
    SECRET,
    STRANGER,
    SecuredQuorum,
    secured_quorum,
)
from tests.harness.waiting import eventually_async
from tui.cli.options import opening_of
from tui.engine.config import load_config
from tui.engine.sources import source_of

pytestmark = pytest.mark.conformance


@pytest.fixture(scope="module", params=["3.9.1", NEWEST.version])
def by_login(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredQuorum]:
    with secured_quorum(install_or_skip(request.param), tmp_path_factory.mktemp("by-login"), "SASL_SSL") as quorum:
        yield quorum


@pytest.fixture(scope="module")
def by_certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredQuorum]:
    with secured_quorum(install_or_skip(NEWEST.version), tmp_path_factory.mktemp("by-certificate"), "SSL") as quorum:
        yield quorum


def properties(folder: Path, quorum: SecuredQuorum, *more: str) -> Path:
    path = folder / "client.properties"
    path.touch(0o600)
    trust = f"ssl.truststore.type=PEM\nssl.truststore.location={quorum.authority.certificate}\n"
    path.write_text(f"security.protocol={quorum.protocol}\n{trust}{''.join(more)}")
    return path


def login(user: str) -> str:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    return f'sasl.mechanism=PLAIN\nsasl.jaas.config={module} required username="{user}" password="{SECRET}";\n'


def certificate(authority: Authority) -> str:
    store = authority.issue("client").keystore
    return f"ssl.keystore.location={store}\nssl.keystore.password={STORE_PASSWORD}\n"


@asynccontextmanager
async def shown(source: str, file: Path) -> AsyncIterator[Feed]:
    """As the dashboard follows it."""
    followed = await asyncio.to_thread(source_of, opening_of(source, load_config(), file))
    feed = Feed(followed.name, lambda _: None)
    followed.open(feed)
    try:
        await eventually_async(lambda: feed.moment.status.phase == "live", standing=lambda: feed.moment.status)
        yield feed
    finally:
        await asyncio.to_thread(followed.close)


async def is_followed(feed: Feed) -> None:
    await eventually_async(lambda: feed.moment.image.metadata is not None, standing=lambda: feed.moment.status)
    status, quorum = feed.moment.status, feed.moment.image.quorum
    assert (status.phase, status.poll_ms, status.polled) == ("live", 0, "")
    assert quorum is not None and quorum.leader != NO_QUORUM_LEADER


async def polls(feed: Feed, why: str) -> None:
    await eventually_async(lambda: feed.moment.status.polled, "a reason", standing=lambda: feed.moment.status)
    status = feed.moment.status
    assert why in status.polled
    assert SECRET not in status.polled
    assert (status.phase, status.poll_ms > 0, feed.moment.image.metadata) == ("live", True, None)
    assert feed.moment.image.brokers.keys() == {1}


async def test_who_may_follow_the_log_does(by_login: SecuredQuorum, tmp_path: Path) -> None:
    file = properties(tmp_path, by_login, login(FOLLOWER))
    async with shown(f"kafka://{by_login.brokers}", file) as feed:
        await is_followed(feed)
        await asyncio.to_thread(Client(by_login.plain).create, "followed", {0: [1]})
        await eventually_async(lambda: "followed" in feed.moment.image.topics, "the news")
    async with shown(f"controllers://{by_login.controllers}", file) as feed:
        await is_followed(feed)


async def test_who_lacks_the_right_polls(by_login: SecuredQuorum, tmp_path: Path) -> None:
    file = properties(tmp_path, by_login, login(NO_FOLLOWER))
    async with shown(f"kafka://{by_login.brokers}", file) as feed:
        await polls(feed, "CLUSTER_ACTION is missing")
    done = kdrill_alone("status", f"controllers://{by_login.controllers}", "--command-config", file)
    assert done.returncode == 1
    assert "the metadata log takes the right CLUSTER_ACTION on the cluster; kafka://BROKER:PORT polls" in done.stderr


async def test_whom_controllers_do_not_know_polls(by_login: SecuredQuorum, tmp_path: Path) -> None:
    file = properties(tmp_path, by_login, login(STRANGER))
    async with shown(f"kafka://{by_login.brokers}", file) as feed:
        await polls(feed, "controllers refuse the login: 127.0.0.1:")
        assert "the login with PLAIN is refused: " in feed.moment.status.polled


async def test_a_certificate_is_enough(by_certificate: SecuredQuorum, tmp_path: Path) -> None:
    file = properties(tmp_path, by_certificate, certificate(by_certificate.authority))
    async with shown(f"kafka://{by_certificate.brokers}", file) as feed:
        await is_followed(feed)


async def test_who_has_no_certificate_polls(by_certificate: SecuredQuorum, tmp_path: Path) -> None:
    async with shown(f"kafka://{by_certificate.brokers}", properties(tmp_path, by_certificate)) as feed:
        await polls(feed, "controllers refuse the login: 127.0.0.1:")
        assert "the server does not take our certificate" in feed.moment.status.polled


async def test_controllers_that_speak_no_tls_are_told_as_such(by_certificate: SecuredQuorum, tmp_path: Path) -> None:
    """Brokers are asked without it, controllers want it."""
    del tmp_path
    async with shown(f"kafka://{by_certificate.plain}", Path("/dev/null")) as feed:
        await polls(feed, "the server speaks TLS here, and we do not")
