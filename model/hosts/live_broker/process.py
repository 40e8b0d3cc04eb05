"""A broker's process: its signals, its output, its exit code."""

import asyncio
import logging
import signal
import sys
from collections.abc import Mapping

import msgspec

from model.broker.settings.settings import Settings
from model.hosts.file_limit import raise_file_limit
from model.hosts.live_broker.assembly import Ready
from model.hosts.live_broker.live_broker import LiveBroker, OnListening, OnReady, StartFailedError
from model.hosts.live_broker.parts import Furnish


def print_listening(addresses: Mapping[str, str]) -> None:
    """`{"listening":{"PLAINTEXT":"127.0.0.1:41234"}}` on standard output."""
    print(msgspec.json.encode({"listening": addresses}).decode(), flush=True)


def print_ready(ready: Ready) -> None:
    """`{"broker_id":1,"broker_epoch":25,"listeners":{"PLAINTEXT":"127.0.0.1:41234"}}` on standard output."""
    print(msgspec.json.encode(ready).decode(), flush=True)


def run_process(settings: Settings, furnish: Furnish, on_listening: OnListening, on_ready: OnReady) -> int:
    """Run a broker until SIGTERM or SIGINT. Exit code 0 then, 1 when it could not start or go on."""
    raise_file_limit()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname).1s %(message)s", stream=sys.stderr)
    try:
        return asyncio.run(_run(settings, furnish, on_listening, on_ready))
    except StartFailedError as error:
        print(f"kdrill broker: {error}", file=sys.stderr)
        return 1


async def _run(settings: Settings, furnish: Furnish, on_listening: OnListening, on_ready: OnReady) -> int:
    broker = LiveBroker(settings, furnish, on_listening, on_ready)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, broker.terminate)
    return await broker.run()
