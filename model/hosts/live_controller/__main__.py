"""Runs a broker that keeps no logs and rules: `python -m model.hosts.live_controller --zookeeper HOST:PORT/chroot
--broker-id 9`, until SIGTERM.

It prints one line once it is registered, `listening on HOST:PORT`; all else goes to standard error.
"""

import argparse
import sys

from model.broker.settings import keys
from model.broker.settings.server_properties import contradictions
from model.broker.settings.settings import Settings
from model.hosts.process import without_hypothesis

with without_hypothesis():
    from model.hosts.live_broker.assembly import zookeeper_settings
    from model.hosts.live_broker.live_broker import run_process
    from model.hosts.live_broker.parts import Ready
    from model.hosts.live_broker.without_logs import WITHOUT_LOGS


def main() -> int:
    """Exit code 0 after SIGTERM or SIGINT, 1 when it could not start or go on, 2 for a wrong call."""
    try:
        settings = _settings()
        zookeeper_settings(settings)
    except ValueError as error:
        print(f"kdrill controller: {error}", file=sys.stderr)
        return 2
    return run_process(settings, WITHOUT_LOGS, lambda addresses: None, _tell)


def _settings() -> Settings:
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
    settings = Settings(
        {
            keys.BROKER_ID.name: given.broker_id,
            keys.BROKER_RACK.name: given.rack,
            keys.ZOOKEEPER_CONNECT.name: given.zookeeper,
            keys.ZOOKEEPER_SESSION_TIMEOUT_MS.name: given.session_timeout_ms,
            keys.LISTENERS.name: f"{given.listener}://{given.host}:{given.port}",
            keys.LISTENER_SECURITY_PROTOCOL_MAP.name: f"{given.listener}:PLAINTEXT",
            keys.INTER_BROKER_LISTENER_NAME.name: given.listener,
            keys.AUTO_LEADER_REBALANCE_ENABLE.name: not given.no_auto_rebalance,
            keys.CONTROLLED_SHUTDOWN_ENABLE.name: False,
        }
    )
    problems = contradictions(settings)
    if problems:
        raise ValueError(problems[0])
    return settings


def _tell(ready: Ready) -> None:
    (address,) = ready.listeners.values()
    print(f"listening on {address}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
