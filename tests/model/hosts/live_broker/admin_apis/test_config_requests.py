"""Configurations on request, and as they are followed in ZooKeeper: a small tree that this test holds."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from typing import Any

from model.broker.settings.dynamic_configs import SettingsInLayers
from model.broker.settings.settings import Settings
from model.hosts.live_broker.apis.client_quotas import QuotaRequests
from model.hosts.live_broker.apis.config_stores import CHANGES, Config, ConfigsInZooKeeper
from model.hosts.live_broker.apis.configs import NOTICE_KEPT_MS, ConfigRequests, DynamicConfigs
from model.hosts.live_broker.parts import wall_clock_ms
from model.hosts.wire.messages import shapes
from model.hosts.wire.names import ApiKey, error_name
from model.zookeeper import (
    Answer,
    Code,
    Create,
    Delete,
    EventKind,
    Exists,
    GetChildren,
    GetData,
    SetData,
    Stat,
    ZnodeChanged,
    ZooKeeperRequest,
)
from tests.harness.live_brokers import Asker, served
from tests.harness.waiting import eventually_async

BROKER, BROKER_LOGGER = 4, 8
SET, DELETE = 0, 1


class Tree:
    """Znodes by path: data and when they were made."""

    def __init__(self) -> None:
        self.znodes: dict[str, tuple[bytes, int]] = {CHANGES: (b"", 0)}

    async def ask(self, requests: Sequence[ZooKeeperRequest]) -> tuple[Answer, ...]:
        return tuple(map(self._answer, requests))

    def _answer(self, request: ZooKeeperRequest) -> Answer:
        path = getattr(request, "path", "")
        if isinstance(request, Create):
            if request.sequential:
                path += f"{len(self.znodes):010d}"
            self.znodes[path] = (request.data, wall_clock_ms())
            return Answer(path=path)
        if isinstance(request, GetChildren):
            below = [each.rpartition("/") for each in self.znodes]
            return Answer(names=tuple(sorted(name for parent, _, name in below if parent == path)))
        if path not in self.znodes:
            return Answer(Code.NO_NODE)
        data, made_ms = self.znodes[path]
        if isinstance(request, SetData):
            self.znodes[path] = (request.data, made_ms)
        elif isinstance(request, Delete):
            del self.znodes[path]
        else:
            assert isinstance(request, GetData | Exists)
        return Answer(data=data, stat=Stat(ctime_ms=made_ms))


class Told:
    """What was applied."""

    def __init__(self) -> None:
        self.quotas: dict[str, Config] = {}
        self.brokers: list[tuple[Config, Config]] = []

    def topic_config(self, topic: str, config: Config) -> None: ...

    def broker_config(self, default: Config, own: Config) -> None:
        self.brokers.append((default, own))

    def quota_config(self, entity: str, config: Config) -> None:
        self.quotas[entity] = config


async def test_quotas_and_settings_are_read_at_the_start_and_followed_and_old_notices_go() -> None:
    tree, told = Tree(), Told()
    config = b'{"version":1,"config":{"producer_byte_rate":"5"}}'
    for entity in ("clients/app", "users/<default>", "users/u/clients/<default>"):
        for place in (entity.rpartition("/clients/")[0], entity):
            tree.znodes[f"/config/{place}"] = (config if place == entity else b"", 0)
    old, new = f"{CHANGES}/config_change_0000000001", f"{CHANGES}/config_change_0000000002"
    tree.znodes[old] = (b'{"version":2,"entity_path":"clients/gone"}', wall_clock_ms() - NOTICE_KEPT_MS - 1_000)
    dynamic = DynamicConfigs(1, tree.ask, told)
    await dynamic.load()
    assert {entity for entity, found in told.quotas.items() if found} == {
        *("clients/app", "users/<default>", "users/u/clients/<default>")
    }
    following = asyncio.create_task(dynamic.run())
    tree.znodes["/config/brokers/1"] = (b'{"version":1,"config":{"num.io.threads":"5"}}', 0)
    tree.znodes[new] = (b'{"version":2,"entity_path":"brokers/1"}', wall_clock_ms())
    dynamic.watched(ZnodeChanged(EventKind.CHILDREN_CHANGED, CHANGES, -1))
    await eventually_async(lambda: told.brokers[-1] == ({}, {"num.io.threads": "5"}) and old not in tree.znodes)
    assert new in tree.znodes
    following.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await following


async def alter(ask: Asker, kind: int, name: str, *changes: tuple[str, int, str | None]) -> str:
    module: Any = shapes(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, "request")
    configs = tuple(module.AlterableConfig(name=key, config_operation=op, value=value) for key, op, value in changes)
    resource = module.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    asked = {"resources": (resource,), "validate_only": False}
    response = await ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, "IncrementalAlterConfigsRequest", **asked)
    return error_name(response.responses[0].error_code)


async def test_a_setting_of_this_broker_is_written_with_a_notice() -> None:
    tree = Tree()
    requests = ConfigRequests(2, ConfigsInZooKeeper(tree.ask), lambda: SettingsInLayers(Settings()))
    rate = ("follower.replication.throttled.rate", SET, "1000")
    async with served(requests.apis) as ask:
        assert await alter(ask, BROKER, "1", rate) == "INVALID_REQUEST"
        assert await alter(ask, BROKER, "2", rate) == "NONE"
        assert await alter(ask, BROKER, "2", ("sasl.jaas.config", SET, "secret")) == "INVALID_CONFIG"
    data, _ = tree.znodes["/config/brokers/2"]
    assert data == b'{"version":1,"config":{"follower.replication.throttled.rate":"1000"}}'
    (notice,) = [data for path, (data, _) in tree.znodes.items() if path.startswith(f"{CHANGES}/")]
    assert notice == b'{"version":2,"entity_path":"brokers/2"}'


async def test_log_levels_are_this_processs_own() -> None:
    logger = logging.getLogger("tests.of.log.levels")
    requests = ConfigRequests(2, ConfigsInZooKeeper(Tree().ask), lambda: SettingsInLayers(Settings()))
    async with served(requests.apis) as ask:
        assert await alter(ask, BROKER_LOGGER, "2", (logger.name, SET, "ERROR")) == "NONE"
        assert logger.level == logging.ERROR
        wrong = (("no.such.logger", SET, "INFO"), (logger.name, SET, "LOUD"))
        assert [await alter(ask, BROKER_LOGGER, "2", each) for each in wrong] == ["INVALID_CONFIG"] * 2
        assert await alter(ask, BROKER_LOGGER, "1", (logger.name, SET, "INFO")) == "INVALID_REQUEST"
        assert logger.level == logging.ERROR
        assert await alter(ask, BROKER_LOGGER, "2", (logger.name, DELETE, None)) == "NONE"
        assert logger.level == logging.NOTSET


async def test_who_has_a_password_is_told_with_its_iterations() -> None:
    tree = Tree()
    tree.znodes["/config/users/a%20b"] = (
        b'{"version":1,"config":{"SCRAM-SHA-256":"salt=eA==,stored_key=eA==,server_key=eA==,iterations=4096"}}',
        0,
    )
    tree.znodes["/config/users/u"] = (b'{"version":1,"config":{"producer_byte_rate":"5"}}', 0)
    module: Any = shapes(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, "request")
    async with served(QuotaRequests(ConfigsInZooKeeper(tree.ask)).apis) as ask:
        for users, told in ((None, {"a b": ("NONE", 4096)}), (("u",), {"u": ("RESOURCE_NOT_FOUND", 0)})):
            names = None if users is None else tuple(module.UserName(name=name) for name in users)
            key = ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS
            response = await ask(key, 0, "DescribeUserScramCredentialsRequest", users=names)
            assert told == {
                each.user: (error_name(each.error_code), sum(info.iterations for info in each.credential_infos))
                for each in response.results
            }
