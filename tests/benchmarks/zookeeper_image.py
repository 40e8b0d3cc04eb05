"""A ZooKeeper tree of any size as the snapshot file that a server starts from: a million znodes take seconds.

Format: `org.apache.zookeeper.server.persistence.FileSnap` and `DataTree.serialize`, 3.4 to 3.9. Starts no server.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

TIME_MS = 1_700_000_000_000
ZXID = 0x100
HEADER = b"ZKSN" + struct.pack(">iq", 2, -1)
NO_SESSIONS = NO_ACLS = struct.pack(">i", 0)
OPEN_TO_ALL = -1
END = struct.pack(">i", 1) + b"/"
AT_ONCE = 50_000
STAT = struct.Struct(">qqqqqiiiqq")

Znodes = Iterable[tuple[str, bytes]]
"""(path, data), parents first."""

BROKERS = 12
FACTOR = 3


def write_image(folder: Path, znodes: Znodes) -> None:
    """Writes a server's data folder. The tree is these znodes below the root."""
    place = folder / "version-2"
    place.mkdir(parents=True)
    digest = 1
    with (place / f"snapshot.{ZXID:x}").open("wb") as file:
        for part in _parts(znodes):
            digest = zlib.adler32(part, digest)
            file.write(part)
        file.write(struct.pack(">q", digest) + END)


def _parts(znodes: Znodes) -> Iterator[bytes]:
    stat = STAT.pack(OPEN_TO_ALL, ZXID, ZXID, TIME_MS, TIME_MS, 0, 0, 0, 0, ZXID)
    length = struct.Struct(">i").pack
    part = bytearray(HEADER + NO_SESSIONS + NO_ACLS)
    for path, data in (("", b""), ("/zookeeper", b""), ("/zookeeper/quota", b""), *znodes):
        name = path.encode()
        part += length(len(name)) + name + length(len(data)) + data + stat
        if len(part) > AT_ONCE:
            yield bytes(part)
            part.clear()
    yield bytes(part) + END


def kafka_znodes(topics: int, partitions: int) -> Iterator[tuple[str, bytes]]:
    """A cluster of Kafka 3.x, all of it well: so many topics of so many partitions each, on 12 brokers."""
    folders = ("/brokers", "/brokers/ids", "/brokers/topics", "/config", "/config/topics", "/admin", "/cluster")
    yield from ((folder, b"") for folder in folders)
    yield "/cluster/id", _json({"version": "1", "id": "kdrill-benchmark-00000"})
    yield "/controller", _json({"version": 2, "brokerid": 1, "timestamp": str(TIME_MS), "kraftControllerEpoch": -1})
    yield "/controller_epoch", b"1"
    for broker in range(1, BROKERS + 1):
        yield f"/brokers/ids/{broker}", _registration(broker)
    for topic in range(topics):
        name = f"/brokers/topics/{topic_name(topic)}"
        placed = {str(partition): replicas_of(partition) for partition in range(partitions)}
        yield name, _json({"version": 3, "topic_id": f"{topic:021d}A", "partitions": placed})
        yield f"{name}/partitions", b""
        for partition in range(partitions):
            yield f"{name}/partitions/{partition}", b""
            yield state_path(topic, partition), state(partition, 0)


def other_znodes(count: int) -> Iterator[tuple[str, bytes]]:
    """One folder of so many znodes, which are none of Kafka's."""
    yield FOLDER, b""
    yield from ((entry_path(number), b"0") for number in range(count))


FOLDER = "/archive"


def entry_path(number: int) -> str:
    """A znode of the folder."""
    return f"{FOLDER}/entry-{number:07}"


def topic_name(topic: int) -> str:
    return f"topic-{topic:04}"


def state_path(topic: int, partition: int) -> str:
    return f"/brokers/topics/{topic_name(topic)}/partitions/{partition}/state"


def replicas_of(partition: int) -> list[int]:
    return [1 + (partition + each) % BROKERS for each in range(FACTOR)]


def state(partition: int, epoch: int) -> bytes:
    """A partition's state: with every epoch another replica leads."""
    replicas = replicas_of(partition)
    leader = replicas[epoch % FACTOR]
    return _json({"controller_epoch": 1, "leader": leader, "version": 1, "leader_epoch": epoch, "isr": replicas})


def _registration(broker: int) -> bytes:
    endpoint = f"PLAINTEXT://broker-{broker}:9092"
    return _json(
        {
            "version": 5,
            "host": f"broker-{broker}",
            "port": 9092,
            "jmx_port": -1,
            "timestamp": str(TIME_MS),
            "endpoints": [endpoint],
            "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
            "rack": f"rack-{broker % FACTOR}",
            "features": {},
        }
    )


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
