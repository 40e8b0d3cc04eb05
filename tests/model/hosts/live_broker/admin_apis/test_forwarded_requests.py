"""What clients hear where the controller does not do what a broker in KRaft mode sends on to it."""

from __future__ import annotations

import pytest

from model.hosts.live_broker.apis.forwarded_requests import ForwardedRequests
from model.hosts.wire.connection import Build
from model.hosts.wire.messages import Entity, shapes
from model.hosts.wire.names import ApiKey, UnavailableError, WireError, error_code, error_name
from model.hosts.wire.server import Request
from tests.harness.live_brokers import Asker, served


def refusing(error: str, patience_s: float = 20.0) -> ForwardedRequests:
    """A broker whose controller answers each envelope with this; empty: none answers."""

    async def ask(_: Build) -> Entity:
        if not error:
            raise UnavailableError("no controller is known")
        shape = shapes(ApiKey.ENVELOPE, 0, "response").EnvelopeResponse
        return shape(response_data=None, error_code=error_code(error))

    async def no_loggers(_: Request) -> Entity:
        raise AssertionError("nobody asks for log levels")

    return ForwardedRequests(ask, no_loggers, patience_s)


async def unregister(ask: Asker) -> str:
    answer = await ask(ApiKey.UNREGISTER_BROKER, 0, "UnregisterBrokerRequest", broker_id=7)
    return error_name(answer.error_code)


@pytest.mark.parametrize("error", ["", "NOT_CONTROLLER"])
async def test_nobody_does_it_in_time(error: str) -> None:
    async with served(refusing(error, 0.05).apis) as ask:
        assert await unregister(ask) == "REQUEST_TIMED_OUT"


async def test_the_controller_refuses_the_envelope(caplog: pytest.LogCaptureFixture) -> None:
    async with served(refusing("CLUSTER_AUTHORIZATION_FAILED").apis) as ask:
        assert await unregister(ask) == "UNKNOWN_SERVER_ERROR"
    assert "refuses unregister_broker" in caplog.text and "CLUSTER_AUTHORIZATION_FAILED" in caplog.text
    assert "Traceback" not in caplog.text


async def test_a_version_that_the_controller_does_not_know_ends_the_connection() -> None:
    async with served(refusing("UNSUPPORTED_VERSION").apis) as ask:
        with pytest.raises(WireError, match="closed"):
            await unregister(ask)
