"""Snapshot files, plain and in zstd: read, looked at as a cluster, and used as a source of sizes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

import click
import msgspec
import zstandard

from model.cluster.snapshot_file import SnapshotError, read_document, read_snapshot
from model.cluster.snapshot_image import document_of
from model.sources.file_source import file_source
from model.sources.source import SourceError
from tests.hostile_input.broken_bytes import broken
from tests.hostile_input.broken_json import broken_json
from tests.hostile_input.looked_at import look_at
from tests.hostile_input.shown import check_error
from tests.hostile_input.target import Target
from tests.hostile_input.targets.znodes import captured
from tui.cli.plan_made import sizes_for

SMALL = b"""{"format":"kdrill.snapshot/1","taken_at_ms":1700000000000,"source":"zk://a","cluster_id":"c",
"kafka_generation":"3.x","controller":{"broker":1,"epoch":7,"since_ms":0},"brokers":[{"id":1,"rack":"r1","epoch":null,
"endpoints":["PLAINTEXT://h:9092"],"registered_ms":0}],"topics":{"orders":{"topic_id":null,"config":{"min.insync.replicas":"2"},
"partitions":{"0":{"replicas":[1,2,3],"adding":[4],"removing":[1],"leader":1,"leader_epoch":0,"isr":[1,2,3],"controller_epoch":7,
"version":0,"size_bytes":10}}}},"groups":{"g1":{"kind":"zookeeper","members":{"m":{"subscription":{"orders":1},"pattern":"static"}},
"owners":{"orders":{"0":"m-0"}},"offsets":{"orders":{"0":12}}},"g2":{"kind":"classic","name":"g2","state":"Stable",
"protocol_type":"consumer","protocol":"range","coordinator":1,"generation":3,"members":{"n":{"subscription":{"orders":1},
"pattern":"static","client_id":"c","client_host":"/1.1.1.1","instance_id":"i"}},"owners":{"orders":{"0":"n"}},"offsets":{"orders":{"0":3}},
"rebalances":[{"at_ms":1,"why":["x"],"took_ms":3,"generation":3,"gained":{"n":{"orders":[0]}},"lost":{},"generations":1}]}},
"log_ends":{"orders":{"0":20}},"admin":{"reassignments":{"orders":{"0":[1,2]}},"preferred_election":[{"topic":"orders","partition":0}],
"delete_topics":["orders"]},"findings":[],"configs":{"brokers/<default>":{"a":"b"}},"unreadable":{"/x":"y"},
"log_dirs":{"1":[{"path":"/d","total_bytes":10,"usable_bytes":2,"sizes":{"orders":{"0":3}}}]},
"offline_replicas":{"orders":{"0":[1]}},"differences":{"orders-0":"d"}}"""


@cache
def _examples() -> list[bytes]:
    return [SMALL, SMALL, msgspec.json.encode(document_of(captured(), ()))]


def make(random: Random) -> bytes:
    """The document, half of the time compressed; then its bytes may be broken, too."""
    data = broken_json(random, _examples()[: random.choice((2, 2, 2, 3))])
    if random.random() < 0.2:
        data = zstandard.ZstdCompressor(write_checksum=random.random() < 0.5).compress(data)
        data = broken(random, data) if random.random() < 0.7 else data
    return data


def judge(case: bytes, folder: Path) -> None:
    """The image or one line; and an image that can be looked at like any other."""
    file = folder / "incident.json"
    file.write_bytes(case)
    try:
        image = read_snapshot(file)
    except SnapshotError as error:
        check_error(error)
    else:
        look_at(image, captured(), whole=len(case) % 8 == 0)
    try:
        read_document(file)
    except SnapshotError as error:
        check_error(error)
    try:
        file_source(file)
    except SourceError as error:
        check_error(error)
    try:
        sizes_for("", file)
    except click.ClickException as error:
        check_error(error.format_message())


TARGET = Target("snapshots", make, judge)
