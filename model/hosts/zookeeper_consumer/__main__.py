"""Runs a ZooKeeper consumer until SIGTERM, which commits and leaves.

Example: python -m model.hosts.zookeeper_consumer --zookeeper localhost:2181 --group billing --topic orders:2

It prints what it does as JSON lines: rebalances, claims, conflicts, commits, counts of what it consumed.
"""

import argparse
import asyncio
import logging
import re
import signal
import socket
import sys
import time
import uuid
from typing import Any

import msgspec

from model.consumers.zookeeper_groups.member_state import MemberSettings, new_consumer_id
from model.hosts.process import without_hypothesis
from model.hosts.zookeeper.protocol import ZooKeeperError
from model.hosts.zookeeper.settings import ZooKeeperSettings

with without_hypothesis():
    from model.hosts.zookeeper_consumer.zookeeper_consumer import (
        RESETS,
        ConsumerOptions,
        FetchSettings,
        ZooKeeperConsumer,
    )

STRATEGIES = {
    "range": "zk-range",
    "roundrobin": "zk-roundrobin-1.0",
    "roundrobin-0.10.2": "zk-roundrobin-0.10.2",
    "roundrobin-0.8.2": "zk-roundrobin",
}


def main() -> int:
    """Exit code 0 after SIGTERM or SIGINT, 1 when it could not join or go on, 2 for a wrong call."""
    try:
        options = _options()
    except ValueError as error:
        print(f"kdrill consumer: {error}", file=sys.stderr)
        return 2
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname).1s %(message)s", stream=sys.stderr)
    try:
        return asyncio.run(_run(options))
    except (OSError, ZooKeeperError) as error:
        print(f"kdrill consumer: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m model.hosts.zookeeper_consumer", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--zookeeper", required=True, help="host:port[,host:port…][/chroot]")
    parser.add_argument("--group", required=True)
    topics = parser.add_mutually_exclusive_group(required=True)
    topics.add_argument("--topic", action="append", metavar="TOPIC[:THREADS]", help="may be given several times")
    topics.add_argument("--whitelist", metavar="REGEX", help="all topics that match, also later ones")
    topics.add_argument("--blacklist", metavar="REGEX", help="all topics that do not match")
    parser.add_argument("--threads", type=int, default=1, help="streams of each topic of a list")
    parser.add_argument("--strategy", choices=list(STRATEGIES), default="range", help="the same in the whole group")
    parser.add_argument("--consumer-id", help="instead of HOST-MILLIS-UUID8 behind the group's name")
    parser.add_argument("--session-timeout-ms", type=int, default=6_000)
    parser.add_argument("--rebalance-max-retries", type=int, default=4)
    parser.add_argument("--rebalance-backoff-ms", type=int, default=2_000)
    parser.add_argument("--auto-commit-interval-ms", type=int, default=60_000)
    parser.add_argument("--no-auto-commit", action="store_true", help="commit nothing: auto.commit.enable=false")
    parser.add_argument("--offset-reset", choices=list(RESETS), default="smallest", help="where nothing is committed")
    parser.add_argument("--listener", default="PLAINTEXT", help="of the brokers; the first one where there is none")
    parser.add_argument("--values", action="store_true", help="print the values of all records, too")
    return parser


def _options() -> ConsumerOptions:
    given = _parser().parse_args()
    address, slash, chroot = given.zookeeper.partition("/")
    subscription, pattern = _subscription(given)
    if not given.group or "/" in given.group:
        raise ValueError(f"group {given.group!r} cannot be a znode's name: use a name without /")
    for key in ("rebalance_max_retries", "auto_commit_interval_ms", "session_timeout_ms", "rebalance_backoff_ms"):
        if getattr(given, key) < 1:
            raise ValueError(f"--{key.replace('_', '-')} {getattr(given, key)}: give 1 or more")
    generated = new_consumer_id(given.group, socket.gethostname(), time.time_ns() // 1_000_000, uuid.uuid4().int >> 64)
    member: dict[str, Any] = {
        "group_id": given.group,
        "consumer_id": f"{given.group}_{given.consumer_id}" if given.consumer_id else generated,
        "subscription": subscription,
        "pattern": pattern,
        "strategy": STRATEGIES[given.strategy],
        "auto_commit_enable": not given.no_auto_commit,
        "zookeeper_session_timeout_ms": given.session_timeout_ms,
    }
    for key in ("rebalance_max_retries", "rebalance_backoff_ms", "auto_commit_interval_ms"):
        member[key] = getattr(given, key)
    return ConsumerOptions(
        zookeeper=ZooKeeperSettings(
            address, slash + chroot if chroot else "", session_timeout_ms=given.session_timeout_ms
        ),
        member=MemberSettings(**member),
        fetch=FetchSettings(auto_offset_reset=given.offset_reset),
        listener=given.listener,
        tell_values=given.values,
    )


def _subscription(given: argparse.Namespace) -> tuple[dict[str, int], str]:
    if given.topic is None:
        written = given.blacklist if given.whitelist is None else given.whitelist
        try:
            re.compile(written)
        except re.error as error:
            raise ValueError(f"{written!r} is not a regular expression: {error}") from None
        if given.threads < 1:
            raise ValueError(f"--threads {given.threads}: give 1 or more")
        return {written: given.threads}, "black_list" if given.whitelist is None else "white_list"
    topics: dict[str, int] = {}
    for text in given.topic:
        name, colon, threads = text.partition(":")
        if not name or (colon and not (threads.isdecimal() and int(threads) > 0)):
            raise ValueError(f"--topic {text!r}: write TOPIC or TOPIC:THREADS, for example orders:2")
        topics[name] = int(threads or 1)
    return topics, "static"


async def _run(options: ConsumerOptions) -> int:
    consumer = ZooKeeperConsumer(options, _print)
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.set)
    try:
        await consumer.start()
        ends = [asyncio.create_task(each.wait()) for each in (told, consumer.ended)]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()
        if told.is_set():
            await consumer.leave()
    finally:
        await consumer.close()
    return 0 if consumer.failure is None else 1


def _print(line: Any) -> None:
    print(msgspec.json.encode(line).decode(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
