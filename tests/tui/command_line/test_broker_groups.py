"""Groups that brokers coordinate, asked for once."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from model.cluster.cluster_image import EMPTY, Provenance
from model.cluster.ids import TopicPartition
from model.sources.source import SourceError
from tests.model.hosts.live_broker.groups.asking import broker
from tests.model.sources.coordinator_groups.test_source import END, cluster, joined
from tui.cli.following import with_broker_groups

IMAGE = msgspec.structs.replace(EMPTY, provenance=Provenance("zk://there", 7, 1, complete=True))


async def test_an_image_gets_the_groups_of_brokers() -> None:
    async with broker() as here, cluster(here) as port:
        member = await joined(here, lambda: here.join(3), 0, 1)
        await here.commit({("orders", 0): 12}, generation_id_or_member_epoch=1, member_id=member)
        image, silent = await asyncio.to_thread(with_broker_groups, IMAGE, f"127.0.0.1:{port}")
    assert silent == ()
    assert image.classic_groups["g"].owners == dict.fromkeys(
        [TopicPartition("orders", 0), TopicPartition("orders", 1)], member
    )
    assert image.log_ends[TopicPartition("orders", 0)] == END
    assert image.provenance == IMAGE.provenance


async def test_who_never_has_done_answering_is_left() -> None:
    async def accept(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as silent:
        port = silent.sockets[0].getsockname()[1]
        with pytest.raises(SourceError, match=f"kafka://127.0.0.1:{port}: no answer about the groups within 0.2 s"):
            await asyncio.to_thread(with_broker_groups, IMAGE, f"127.0.0.1:{port}", timeout_s=0.2)


def test_nobody_answers_or_is_no_address() -> None:
    with pytest.raises(SourceError, match=r"kafka://127\.0\.0\.1:1: no broker answers"):
        with_broker_groups(IMAGE, "127.0.0.1:1")
    with pytest.raises(SourceError, match="'port' in 'nonsense:port' is not a port number"):
        with_broker_groups(IMAGE, "nonsense:port")
