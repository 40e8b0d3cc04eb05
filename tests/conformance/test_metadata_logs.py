"""KRaft's metadata: the tables of records are those in Kafka's jars, and kdrill prints logs as each release's own tool.

KDRILL_MORE_RELEASES says which are asked beside 3.9.1 and the newest: what seven of them printed is kept, and compared
in `tests/model/log/dump`.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from model.cluster.ids import release_numbers
from model.log.records import Record, encode_batch
from model.metadata_log.schemas import RECORDS
from tests.conformance.kafka import metadata_schemas
from tests.conformance.kafka.metadata_logs import dumped, installed
from tests.conformance.kafka.releases import NEWEST
from tests.harness.command import KDRILL
from tests.maven import UnavailableError, skip_or_fail
from tests.model.metadata_log.kept import files, values
from tests.model.metadata_log.snapshot_writer import snapshot, write_snapshot

pytestmark = pytest.mark.conformance

MORE = os.environ.get("KDRILL_MORE_RELEASES", "").split()


def test_the_tables_are_those_in_kafkas_jars() -> None:
    try:
        schemas = metadata_schemas.schemas_of(NEWEST.version)
    except UnavailableError as reason:
        skip_or_fail(str(reason))
    known = {schema.name: schema for schema in RECORDS}
    records = {name: schema for name, schema in schemas.items() if name not in metadata_schemas.CONTROL}
    assert known.keys() - records.keys() == {"AccessControlRecord"}
    for name, schema in records.items():
        newest = metadata_schemas.versions(schema["validVersions"], 0)[1]
        assert (known[name].key, known[name].newest) == (schema["apiKey"], newest)
        ours = [(field.name, field.first, field.tag) for field in known[name].fields]
        assert ours == [
            (field["name"], metadata_schemas.versions(field["versions"], 0)[0], field.get("tag", -1))
            for field in schema["fields"]
        ]


def unusual(folder: Path, version: str) -> Path:
    """A log of all values that are kept and the release knows, and of some that real nodes do not write."""
    known = [path for path in files() if release_numbers(path.parent.name) <= release_numbers(version)]
    quota = b"\x01\x0e\x00\x02\x05user\x00\x00\x02k%b\x00\x00"
    made = [
        b"\x01\x8f\x4e\x00",
        b"\x01\x02\x07",
        b"\x01\x14\x00\x01\x05\x02ab",
        '\x01\x02\x00\x09é"\\\x1f\x7f\n'.encode() + bytes(17),
        b"\x01\x02\x00\x05\xff\xed\xa0\x80" + bytes(17),
        *(quota % struct.pack(">d", number) for number in (0.1, 1e7, 12345678.9, 1e-3, 9.99e-4, math.nan, -0.0, 1e22)),
    ]
    numbered = enumerate([*sorted({value for path in known for value in values(path)}), *made])
    records = (Record(offset, 1_700_000_000_000, None, value) for offset, value in numbered)
    path = folder / f"{0:020}.log"
    path.write_bytes(b"".join(encode_batch([record], leader_epoch=1) for record in records))
    return path


def without_reasons(text: bytes) -> list[bytes]:
    """Lines; why a record cannot be read, each release says in words of its own."""
    return [re.sub(rb"(payload: Error at \d+, skipping\.).*", rb"\1", line) for line in text.splitlines()]


@pytest.mark.parametrize("version", ["3.9.1", NEWEST.version, *MORE])
def test_the_same_text_as_the_releases_own_tool(version: str, tmp_path: Path) -> None:
    try:
        kafka = installed(version)
    except UnavailableError as reason:
        skip_or_fail(str(reason))
    paths = [unusual(tmp_path, version)]
    for path in files():
        if path.parent.name == version:
            paths.append(tmp_path / path.name if path.suffix == ".checkpoint" else tmp_path / "kept" / path.name)
            paths[-1].parent.mkdir(exist_ok=True)
            shutil.copyfile(path, paths[-1])
    for path in paths:
        words = ["dump-log", "--cluster-metadata-decoder", "--as-release", version, path.name]
        ours = subprocess.run([*KDRILL, *words], cwd=path.parent, capture_output=True, check=True, timeout=120)
        assert without_reasons(ours.stdout) == without_reasons(dumped(kafka, path))


def test_the_tool_reads_snapshots_that_we_write(tmp_path: Path) -> None:
    """Large ones are what reading is measured with."""
    try:
        kafka = installed(NEWEST.version)
    except UnavailableError as reason:
        skip_or_fail(str(reason))
    text = dumped(kafka, write_snapshot(tmp_path, snapshot(topics=3, partitions=400)))
    assert text.count(b'"type":"PARTITION_RECORD"') == 1_200
    assert text.count(b"SnapshotHeader") == text.count(b"SnapshotFooter") == 1
    assert (text.count(b"isvalid: true"), text.count(b"baseOffset: ")) == (4, 4)
    assert b"Error at" not in text
