"""Runs a controller until SIGTERM: `python -m model.hosts.live_controller --zookeeper HOST:PORT/chroot --broker-id 9`.

It prints one line once it is registered, `listening on HOST:PORT`; all else goes to standard error.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys

from model.controller.settings import Settings as ControllerSettings
from model.hosts.live_controller.live_controller import LiveController
from model.hosts.live_controller.options import Options
from model.hosts.zookeeper.protocol import ZooKeeperError
from model.hosts.zookeeper.settings import Settings as ZooKeeperSettings


def main() -> int:
    """Exit code 0 after SIGTERM or SIGINT, 1 when it could not start or go on, 2 for a wrong call."""
    try:
        options = _options()
    except ValueError as error:
        print(f"kdrill controller: {error}", file=sys.stderr)
        return 2
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname).1s %(message)s", stream=sys.stderr)
    try:
        return asyncio.run(_run(options))
    except (OSError, ZooKeeperError) as error:
        print(f"kdrill controller: {error}", file=sys.stderr)
        return 1


def _options() -> Options:
    parser = argparse.ArgumentParser(prog="python -m model.hosts.live_controller", description=__doc__)
    parser.add_argument("--zookeeper", required=True, help="host:port[,host:port…][/chroot]")
    parser.add_argument("--broker-id", required=True, type=int, help="an id that no other broker has")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen; others are told the same")
    parser.add_argument("--port", type=int, default=0, help="0 lets the system choose")
    parser.add_argument("--listener", default="PLAINTEXT", help="name of the listener between brokers")
    parser.add_argument("--rack", help="needed where brokers have racks: Kafka places no replicas if only some have")
    parser.add_argument("--session-timeout-ms", type=int, default=18_000)
    parser.add_argument("--no-auto-rebalance", action="store_true", help="auto.leader.rebalance.enable=false")
    given = parser.parse_args()
    address, slash, chroot = given.zookeeper.partition("/")
    return Options(
        zookeeper=ZooKeeperSettings(
            address, slash + chroot if chroot else "", session_timeout_ms=given.session_timeout_ms
        ),
        controller=ControllerSettings(
            broker_id=given.broker_id,
            auto_leader_rebalance_enable=not given.no_auto_rebalance,
            seed=os.urandom(16),
        ),
        host=given.host,
        port=given.port,
        listener=given.listener,
        rack=given.rack,
    )


async def _run(options: Options) -> int:
    controller = LiveController(options)
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.set)
    try:
        await controller.start()
        print(f"listening on {options.host}:{controller.port}", flush=True)
        ends = [asyncio.create_task(each.wait()) for each in (told, controller.failed)]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()
    finally:
        await controller.close()
    return 0 if told.is_set() else 1


if __name__ == "__main__":
    sys.exit(main())
