"""Runs a voter of a KRaft quorum until SIGTERM: `python -m model.hosts.quorum FOLDER --port 9093 --quorum HOST:PORT,…`.

FOLDER was formatted, by Kafka's own tool perhaps. It prints one line once it takes part, `listening on HOST:PORT`; all
else goes to standard error.
"""

import argparse
import asyncio
import logging
import signal
import sys
import time
from pathlib import Path

from model.hosts.process import without_hypothesis

with without_hypothesis():
    from model.hosts.quorum.active_controller import SUPPORTED, ActiveController, Periods
    from model.hosts.quorum.committed_log import SnapshotSettings
    from model.hosts.quorum.operator_requests import controller_apis
    from model.hosts.quorum.own_registration import OwnRegistration
    from model.hosts.quorum.quorum_voter import QuorumVoter
    from model.hosts.quorum.voter_disk import SEGMENT_BYTES, VoterDisk, identity
    from model.hosts.wire.names import WireError
    from model.log.names import DamagedFileError
    from model.observer.messages import Address
    from model.raft.node import QuorumSettings
    from model.raft.raft_log import ReplicaKey, Voter, VoterSet
    from model.raft.retention import Retention


def main() -> int:
    """Exit code 0 after SIGTERM or SIGINT, 1 when it could not start or go on, 2 for a wrong call."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    try:
        return asyncio.run(_run(_arguments()))
    except (OSError, DamagedFileError, WireError) as error:
        print(f"kdrill voter: {error}", file=sys.stderr)
        return 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m model.hosts.quorum", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="has meta.properties and __cluster_metadata-0")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen; others are told the same")
    parser.add_argument("--advertised", type=_address, metavar="HOST:PORT", help="or what else others are told")
    parser.add_argument("--port", type=int, default=0, help="0 lets the system choose")
    parser.add_argument("--quorum", type=_addresses, default=(), help="HOST:PORT,… who is asked for the leader")
    parser.add_argument("--voters", type=_voters, default=VoterSet(), help="ID@HOST:PORT,… where no log names them")
    parser.add_argument(
        "--reached", type=_voters, default=VoterSet(), help="ID@HOST:PORT,… where voters are now, if the log knows not"
    )
    defaults = QuorumSettings()
    parser.add_argument("--election-timeout-ms", type=int, default=defaults.election_timeout_ms)
    parser.add_argument("--fetch-timeout-ms", type=int, default=defaults.fetch_timeout_ms)
    parser.add_argument("--auto-join", action="store_true", help="ask to vote, where that takes no configuration")
    kept, retention = SnapshotSettings(), Retention()
    parser.add_argument("--segment-bytes", type=int, default=SEGMENT_BYTES, help="the log is deleted by segments")
    parser.add_argument("--snapshot-bytes", type=int, default=kept.max_record_bytes_between_snapshots)
    parser.add_argument("--snapshot-interval-ms", type=int, default=kept.max_snapshot_interval_ms)
    parser.add_argument("--retention-bytes", type=int, default=retention.bytes, help="of log and snapshots; -1: no end")
    parser.add_argument("--retention-ms", type=int, default=retention.ms, help="of older snapshots; -1: no end")
    parser.add_argument("--session-timeout-ms", type=int, default=9_000, help="a broker so long silent is fenced")
    _add_periods(parser)
    return parser.parse_args()


def _add_periods(parser: argparse.ArgumentParser) -> None:
    defaults = Periods()
    parser.add_argument(
        "--leader-imbalance-check-interval-s", type=float, default=defaults.balance_ms / 1000, help="0: never"
    )
    parser.add_argument("--unclean-election-interval-ms", type=float, default=defaults.unclean_ms)


def _addresses(text: str) -> tuple[Address, ...]:
    return tuple(_address(each) for each in text.split(","))


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    return host, int(port)


def _voters(text: str) -> VoterSet:
    pairs = (each.partition("@") for each in text.split(","))
    return VoterSet.of((Voter(ReplicaKey(int(id_)), _address(address)) for id_, _, address in pairs), 0)


async def _run(given: argparse.Namespace) -> int:
    cluster_id, key = identity(given.folder)
    disk = VoterDisk(given.folder, given.voters, time.time_ns() // 1_000_000, given.segment_bytes)
    for line in disk.recovery.sentences():
        logging.info("%s", line)
    settings = QuorumSettings(
        election_timeout_ms=given.election_timeout_ms,
        fetch_timeout_ms=given.fetch_timeout_ms,
        auto_join=given.auto_join,
    )
    bootstrap = given.quorum or tuple(voter.address for voter in given.voters.voters if voter.address is not None)
    reached = {voter.key.id: voter.address for voter in given.reached.voters}
    voter = QuorumVoter(key, cluster_id, disk, bootstrap, settings, reached)
    retention = Retention(given.retention_bytes, given.retention_ms)
    snapshots = SnapshotSettings(given.snapshot_bytes, given.snapshot_interval_ms, retention)
    periods = Periods(
        given.session_timeout_ms,
        balance_ms=given.leader_imbalance_check_interval_s * 1000,
        unclean_ms=given.unclean_election_interval_ms,
    )
    controller = ActiveController(voter, cluster_id, periods, snapshots)
    voter.machine, voter.features = controller, controller.features
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, voter.stop)
    port = await voter.start(given.host, given.port, controller_apis(controller), given.advertised)
    controller.start()
    registering = loop.create_task(OwnRegistration(voter, controller.log, SUPPORTED).run())
    print(f"listening on {given.host}:{port}", flush=True)
    fault = await voter.ended
    if fault:
        logging.error("the voter ends: %s", fault)
    registering.cancel()
    controller.close()
    await voter.close()
    return 1 if fault else 0


if __name__ == "__main__":
    sys.exit(main())
