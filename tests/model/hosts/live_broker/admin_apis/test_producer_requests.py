"""What a broker logs of clients that ask for producer ids."""

from __future__ import annotations

import pytest

from model.hosts.live_broker.apis.producer_ids import ProducerRequests
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import shapes
from model.hosts.wire.names import ApiKey, UnavailableError
from model.hosts.wire.server import Server


async def take() -> int:
    raise UnavailableError("no controller")


@pytest.mark.parametrize(("wanted", "error"), [("t", "invalid_request"), (None, "coordinator_load_in_progress")])
async def test_a_log_shows_a_clients_name_harmlessly(
    wanted: str | None, error: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server(ProducerRequests(take).apis)
    client = await Connection.open("127.0.0.1", await server.start("127.0.0.1", 0), "\x1b[2J")
    module = shapes(ApiKey.INIT_PRODUCER_ID, 4, "request")
    wish = module.InitProducerIdRequest(transactional_id=wanted, transaction_timeout=module.i32Timedelta.resolution * 0)
    assert (await client.ask(wish)).error_code.name == error
    await client.close()
    await server.close()
    assert "'\\x1b[2J'" in caplog.text
    assert "\x1b" not in caplog.text
