"""Whatever is wrong with the input is told in one line on standard error, with the right exit code, and no result."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.sandbox.embedded_zookeeper import ZnodeSession
from model.zookeeper import Create
from tests.harness.command import failure, kdrill

FAILED, USAGE = 1, 2
COMMANDS = pytest.mark.parametrize(
    "command", [("status",), ("snapshot", "-o", "out.json"), ("drill", "--kill", "1")], ids=lambda words: words[0]
)


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        ("status --connect-timeout 1 zk://127.0.0.1:1", FAILED, "zk://127.0.0.1:1: "),
        ("status --connect-timeout 1 zk://no-such-host.invalid", FAILED, "cannot resolve host no-such-host.invalid"),
        ("status zk://a:port", FAILED, "'port' in 'a:port' is not a port number from 1 to 65535"),
        ("status zk://a:70000", FAILED, "'70000' in 'a:70000' is not a port number from 1 to 65535"),
        ("status zk://", FAILED, "'zk://' names no host: write zk://host:port[,host:port…][/chroot]"),
        ("status http://a:2181", FAILED, "http:// is no kind of source: write zk://host:port[/chroot]"),
        (
            "status a:2181",
            FAILED,
            "no such file, and no such cluster: /dev/null names none; for a ZooKeeper write zk://a",
        ),
        ("status none.json", FAILED, "'none.json': no such file"),
        ("status .", FAILED, ".: no recording here; kdrill record SOURCE -o . makes one"),
        ("status", USAGE, "SOURCE is missing"),
        ("snapshot -o out.json", USAGE, "SOURCE is missing"),
        ("snapshot zk://a", USAGE, "Missing option '-o' / '--output'"),
        ("status a b", USAGE, "Got unexpected extra argument (b)"),
        ("status a --connect-timeout 0", USAGE, "0.0 is not in the range x>0"),
        ("status a --jsno", USAGE, "No such option '--jsno'"),
        ("--bogus", USAGE, "No such option '--bogus'"),
        ("zk://a --theme pink", USAGE, "'pink' is not one of 'dark', 'light', 'safe', 'ansi', 'mono'"),
        ("statsu zk://a", USAGE, "no such command 'statsu': did you mean 'status'?"),
        ("zk://a", FAILED, "the dashboard needs a terminal; without one use: kdrill status SOURCE"),
        ("", FAILED, "the dashboard needs a terminal"),
        ("zk://a:port", FAILED, "is not a port number"),
        ("nothing.json", FAILED, "'nothing.json': no such file"),
        ("--config none.toml status zk://a", FAILED, "none.toml: no such file"),
    ],
)
def test_it_is_told_in_one_line(tmp_path: Path, arguments: str, code: int, reason: str) -> None:
    done = kdrill(*arguments.split(), cwd=tmp_path)
    assert reason in failure(done)
    assert done.returncode == code


@COMMANDS
def test_a_chroot_that_is_not_there(zookeeper: str, tmp_path: Path, command: tuple[str, ...]) -> None:
    done = kdrill(*command, f"zk://{zookeeper}/nothing", cwd=tmp_path)
    assert "/nothing" in failure(done)
    assert done.returncode == FAILED
    assert not list(tmp_path.iterdir())


@COMMANDS
def test_a_tree_that_is_not_kafkas(zookeeper: str, tmp_path: Path, command: tuple[str, ...]) -> None:
    address, slash, root = zookeeper.partition("/")
    session = ZnodeSession(address, slash + root)
    session.apply([Create("/hbase")])
    session.close()
    done = kdrill(*command, f"zk://{zookeeper}", cwd=tmp_path)
    assert "no Kafka cluster here" in failure(done)
    assert done.returncode == FAILED
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b"#!/bin/sh\n", "not a kdrill snapshot: it is not JSON"),
        (b'{"format":"kdrill.snapshot/2"}', "kdrill.snapshot/2: this kdrill reads /1; upgrade kdrill"),
        (b'{"format":"kdrill.status/1"}', "this is kdrill.status/1, not a snapshot"),
        (b'{"format":"kdrill.snapshot/1","topics":{"\\u001b[2J', "the file is cut off; take the snapshot again"),
        (b"\x28\xb5\x2f\xfd\x00", None),
    ],
)
def test_a_file_that_is_no_snapshot(tmp_path: Path, content: bytes, reason: str | None) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    done = kdrill("status", path)
    assert failure(done).startswith(f"{path}: {reason or ''}")
    assert done.returncode == FAILED


def test_a_snapshot_cut_off(snapshot_file: Path) -> None:
    snapshot_file.write_bytes(snapshot_file.read_bytes()[:-100])
    assert "the file is cut off" in failure(kdrill("status", snapshot_file))


def test_a_name_with_escape_codes_is_told_without_obeying_them() -> None:
    said = failure(kdrill("status", "\x1b[2Jevil\u202e\n.json"))
    assert "evil" in said
    assert not {"\x1b", "\u202e"} & set(said)


def test_a_configuration_that_cannot_be_used_is_named_with_its_key(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[clusters.prod]\nzookeper = ['zk1']\n")
    for arguments in (["status", "prod"], ["doctor"]):
        done = kdrill(*arguments, environment={"KDRILL_CONFIG": str(path)})
        assert failure(done) == f"{path}:2: clusters.prod.zookeper: unknown key"
        assert done.returncode == FAILED
