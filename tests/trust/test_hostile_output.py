"""Every command on a cluster whose every text is out to harm a terminal: on one, by a pipe, and in files."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from model.sandbox.embedded_zookeeper import ZnodeSession
from model.zookeeper import Create
from tests.trust.ground import Ground, ground
from tests.tui.data.logs.log_folders import write_log
from tests.tui.test_app_hostile import writes

OURS = re.compile(r"\x1b\[[0-9;]*m|\r\x1b\[K|\r\n|[\n\t]")
"""Colours, a line of progress taken back, the ends of lines, and what Kafka's tools put between columns."""

LONG = "l" * 300_000
EVIL = "\x1b[2J\x1b]0;owned\x07\u202e\u200b\x9b31m"

LOOKS = (
    "status prod",
    "topics prod list",
    "topics prod describe",
    "configs prod describe --entity-type topics",
    "drill prod --kill 100,1 --all",
    "drill prod --each-broker --engine here",
    f"plan prod --rebalance -o {EVIL}-plan.json --rollback {EVIL}-back.json --election {EVIL}-election.json",
    "preview prod --engine here",
    "doctor",
    "history recording --engine here",
    "act prod elect-preferred",
    "topics prod delete --topic 1.*",
    "dump-log --print-data-log {mine}/orders-0",
    "scan {mine} --engine here",
)
AS_JSON = (
    "status prod --json",
    "drill prod --kill 100 --json --all",
    "drill prod --each-broker --json --engine here",
    "plan prod --rebalance --json -o plan.json --rollback back.json",
    "preview prod --json --engine here",
    "doctor --json",
    "history recording --json --engine here",
    "topics prod delete --topic 1.* --json",
    "scan {mine} --json --engine here",
    "status whole.json --json",
)
REFUSED = (
    f"status zk://{EVIL}",
    f"status kafka://{EVIL}",
    f"status ./no-{EVIL}.json",
    f"{EVIL}://x",
    f"status prod --json {EVIL}",
    f"status --{EVIL} prod",
    f"topics prod describe --topic {EVIL}",
    f"configs prod describe --entity-type topics --entity-name {EVIL}",
    f"drill prod --kill {EVIL}",
    f"drill prod --rack {EVIL}",
    f"plan prod --remove-broker {EVIL}",
    f"plan prod --score ./{EVIL}",
    f"plan prod --rebalance -o ./no/{EVIL}",
    f"snapshot prod -o ./{EVIL}",
    f"record prod -o {{mine}}/config.toml/{EVIL}",
    f"history ./{EVIL}",
    f"dump-log ./{EVIL}",
    f"scan ./{EVIL}",
    f"status prod --config ./{EVIL}",
    f"status prod --command-config ./{EVIL}",
    f"status prod --poll {EVIL}",
    f"configs prod alter --entity-type topics --entity-name {EVIL} --add-config {EVIL}=1",
)


@pytest.fixture
def here(tmp_path: Path, zookeeper: str) -> Iterator[Ground]:
    with ground(tmp_path, zookeeper) as here:
        server, _, root = zookeeper.partition("/")
        session = ZnodeSession(server, f"/{root}/kafka")
        session.apply(writes()[:-1])
        long = json.dumps({"version": 1, "config": {"long": LONG}}).encode()
        session.apply([Create(f"/brokers/topics/{LONG}", b'{"version":1,"partitions":{"0":[1]}}')])
        session.apply([Create("/config/topics/long", long)])
        session.close()
        write_log(here.mine / "orders-0", batches=3)
        yield here


def harm_in(data: bytes) -> set[str]:
    """What of it a terminal would obey, turn around or hide; what the program itself may send is none."""
    try:
        text = OURS.sub("", data.decode())
    except UnicodeDecodeError as error:
        return {repr(error)}
    return {ascii(each) for each in set(text) if not each.isprintable() or unicodedata.category(each)[0] == "C"}


def test_nothing_that_any_command_says_or_writes_harms_a_terminal(here: Ground) -> None:
    def words_of(line: str) -> list[str]:
        return line.format(mine=here.mine).split()

    for name in ("whole.json", f"{EVIL}.json", f"{EVIL}.json.zst"):
        assert here.run("snapshot", "prod", "-o", name) == 0
    assert here.run("record", "prod", "-o", "recording", "--for", "1s") == 0
    codes = {line: (here.run(*words_of(line)), here.run_on_a_terminal(*words_of(line))) for line in LOOKS}
    codes |= {line: (here.run(*words_of(line)), 0) for line in AS_JSON}
    assert not {line: code for line, code in codes.items() if not {*code} <= {0, 2}}, here.said[-8:]
    for line in REFUSED:
        assert here.run(*words_of(line)) != 0, line
        out, err = here.said[-2:]
        told = [each for each in err[1].splitlines() if b"client.properties: not used" not in each]
        assert (out[1], len(told)) == (b"", 1), (line, out, err)
    files = {str(path): path.read_bytes() for path in here.folder.rglob("*.json*") if path.suffix != ".zst"}
    harm = {name: harm_in(data) for name, data in [*here.said, *files.items()]}
    assert not {name: found for name, found in harm.items() if found}
    documents = [(name, data) for name, data in here.said if "--json" in name and name.endswith(" out") and data]
    for name, data in [*documents, *files.items()]:
        for line in data.splitlines() if name.endswith("jsonl") else [data]:
            json.loads(line)
    told = b"".join(data for name, data in here.said if "'list'" in name)
    assert LONG.encode() in told
    print(f"{len(codes) * 2 + len(REFUSED)} runs, {sum(map(len, files.values())):,} bytes in {len(files)} files")
