"""Class archives: built once for a Java and a set of jars, used by every server after that."""

import os
import threading
from pathlib import Path

import pytest

from model.sandbox.embedded_zookeeper import start_zookeeper, train
from model.sandbox.java import UNUSED_AFTER_S, ClassArchive, Java, find_java, zookeeper_jars
from model.sandbox.zookeeper_server import MAIN_CLASS, EmbeddedZooKeeper, server_status
from tests.harness.waiting import eventually

JAVA = Java(Path("/opt/java/bin/java"), "17.0.1", "PATH")


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    jar = tmp_path / "some.jar"
    jar.write_bytes(b"classes")
    return jar


def write(data: bytes):
    return lambda path: path.write_bytes(data)


def test_the_name_depends_on_java_and_jars(tmp_path: Path, jar: Path):
    names = {ClassArchive.of(JAVA, [jar], tmp_path).path, ClassArchive.of(JAVA, [jar, jar], tmp_path).path}
    names.add(ClassArchive.of(Java(JAVA.program, "17.0.2", "PATH"), [jar], tmp_path).path)
    names.add(ClassArchive.of(Java(Path("/opt/other/java"), "17.0.1", "PATH"), [jar], tmp_path).path)
    assert ClassArchive.of(Java(JAVA.program, "17.0.1", "JAVA_HOME"), [jar], tmp_path).path in names
    jar.write_bytes(b"other classes")
    names.add(ClassArchive.of(JAVA, [jar], tmp_path).path)
    assert len(names) == 5


def test_built_once_and_then_used(tmp_path: Path):
    archive = ClassArchive(tmp_path / "cache" / "zookeeper-1.jsa")
    assert archive.flags() == []
    assert archive.build(write(b"first"))
    assert archive.build(write(b"second"))
    assert archive.path.read_bytes() == b"first"
    assert f"-XX:SharedArchiveFile={archive.path}" in archive.flags()
    archive.discard()
    archive.discard()
    assert archive.flags() == []


def test_a_training_that_fails_leaves_no_archive(tmp_path: Path):
    archive = ClassArchive(tmp_path / "zookeeper-1.jsa")

    def fail(path: Path) -> None:
        path.write_bytes(b"half")
        raise RuntimeError("Java crashed")

    assert not archive.build(fail)
    assert not archive.is_built()
    assert archive.build(write(b"whole"))
    assert archive.path.read_bytes() == b"whole"


def test_a_cache_that_is_not_writable(tmp_path: Path):
    (tmp_path / "file").touch()
    assert not ClassArchive(tmp_path / "file" / "zookeeper-1.jsa").build(write(b"never"))


def test_only_one_builds_at_a_time(tmp_path: Path):
    archive = ClassArchive(tmp_path / "zookeeper-1.jsa")
    started, go_on = threading.Event(), threading.Event()

    def slowly(path: Path) -> None:
        started.set()
        go_on.wait(30)
        path.write_bytes(b"first")

    builder = threading.Thread(target=archive.build, args=[slowly])
    builder.start()
    started.wait(30)
    assert not archive.build(write(b"second"))
    go_on.set()
    builder.join()
    assert archive.path.read_bytes() == b"first"


def test_archives_that_nobody_uses_go(tmp_path: Path):
    old, used, foreign = tmp_path / "zookeeper-0.jsa", tmp_path / "zookeeper-2.jsa", tmp_path / "settings"
    for file in (old, used, foreign):
        file.touch()
    long_ago = old.stat().st_mtime - UNUSED_AFTER_S - 60
    for file in (old, used, foreign):
        os.utime(file, (long_ago, long_ago))
    ClassArchive(used).flags()
    assert ClassArchive(tmp_path / "zookeeper-1.jsa").build(write(b"new"))
    assert sorted(file.name for file in tmp_path.glob("*[!k]")) == ["settings", "zookeeper-1.jsa", "zookeeper-2.jsa"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A real archive, for this machine's Java."""
    folder = tmp_path_factory.mktemp("trained")
    train(find_java(), zookeeper_jars(), folder / "archive")
    return (folder / "archive").read_bytes()


def server_log(archives: Path) -> str:
    """What Java says at a start with the archive in `archives`; the server must serve."""
    with start_zookeeper(archives=archives, build_after_s=600) as server:
        assert server_status(("127.0.0.1", server.port))
        assert server.folder is not None
        return (server.folder / "zookeeper.log").read_text()


def test_java_takes_the_archive(tmp_path: Path, trained: bytes):
    archive = ClassArchive.of(find_java(), zookeeper_jars(), tmp_path)
    archive.build(write(trained))
    assert "archive" not in server_log(tmp_path)
    with EmbeddedZooKeeper(tmp_path, java_flags=[*archive.flags(), "-Xlog:class+load"]):
        loaded = (tmp_path / "zookeeper.log").read_text()
    assert f"{MAIN_CLASS} source: shared objects file (top)" in loaded


DAMAGES = {
    "empty": lambda good: b"",
    "no archive": lambda good: b"hello" * 1000,
    "cut off": lambda good: good[: len(good) // 2],
    "header only": lambda good: good[:4096],
    "changed inside": lambda good: (
        good[:200_000] + bytes(byte ^ 0xFF for byte in good[200_000:400_000]) + good[400_000:]
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_archive_does_not_stop_the_server(tmp_path: Path, trained: bytes, damage: str):
    archive = ClassArchive.of(find_java(), zookeeper_jars(), tmp_path)
    archive.build(write(DAMAGES[damage](trained)))
    server_log(tmp_path)


def test_it_is_built_behind_the_first_start(tmp_path: Path):
    archive = ClassArchive.of(find_java(), zookeeper_jars(), tmp_path)
    with start_zookeeper(archives=tmp_path, build_after_s=0):
        eventually(archive.is_built)
