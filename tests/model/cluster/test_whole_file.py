"""Files are read whole within a bound, whatever they are, and whoever reads them for a user says so in one line."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from model.actions.proposal import ActionRefused
from model.cluster.snapshot_file import SnapshotError, read_snapshot
from model.cluster.whole_file import read_text, read_whole
from model.hosts.acting.reassigning import ReassignmentJournal
from model.hosts.client_properties import read_client_properties
from model.hosts.client_security import Secret, SecurityError, Store, Tls
from model.hosts.tls import tls_context
from model.log.checkpoints import read_meta_properties, read_offsets, read_topic_id
from model.log.names import META_PROPERTIES_FILE, PARTITION_METADATA_FILE
from model.recordings.folder import RecordingError
from model.recordings.part_file import read_header
from model.sandbox.processes import SandboxError
from model.sandbox.scenario import read_scenario
from tui.cli.act import offsets_in
from tui.cli.act_elect import elect_preferred
from tui.cli.plan_made import read_file as read_plan
from tui.cli.plan_made import sizes_for
from tui.engine.config import ConfigError, load_config

HUGE = 10 << 30
"""Bytes of a file that takes no room: a hole."""


def journal_at(path: Path) -> object:
    journal = ReassignmentJournal(path.parent, "c")
    journal.file.parent.mkdir()
    path.rename(journal.file)
    return journal.read()


def beside(path: Path, name: str, read: Callable[[Path], object]) -> object:
    path.rename(path.with_name(name))
    return read(path.parent)


def certificates_at(path: Path) -> object:
    return tls_context(Tls(truststore=Store(type="PEM", location=str(path))))


READERS: dict[str, tuple[Callable[[Path], object], type[Exception], str]] = {
    "snapshot": (read_snapshot, SnapshotError, "1,073,741,824"),
    "configuration": (load_config, ConfigError, "16,777,216"),
    "client.properties": (read_client_properties, SecurityError, "16,777,216"),
    "certificates": (certificates_at, SecurityError, "16,777,216"),
    "plan": (read_plan, click.ClickException, "1,073,741,824"),
    "sizes": (lambda path: sizes_for("", path), click.ClickException, "1,073,741,824"),
    "election": (lambda path: elect_preferred.make(None, (), path, False), click.ClickException, "1,073,741,824"),
    "offsets": (offsets_in, click.ClickException, "1,073,741,824"),
    "scenario": (read_scenario, SandboxError, "16,777,216"),
    "journal": (journal_at, ActionRefused, "1,073,741,824"),
    "checkpoint": (read_offsets, OSError, "1,073,741,824"),
    "meta.properties": (lambda path: beside(path, META_PROPERTIES_FILE, read_meta_properties), OSError, "16,777,216"),
    "metadata": (lambda path: beside(path, PARTITION_METADATA_FILE, read_topic_id), OSError, "16,777,216"),
}
"""What reads a file that a user names, the error that says why not, and the bound."""


@pytest.mark.parametrize("of", READERS)
def test_a_file_larger_than_memory_is_refused_unread(of: str, tmp_path: Path) -> None:
    read, refusal, most = READERS[of]
    path = tmp_path / "huge.json"
    path.touch()
    os.truncate(path, HUGE)
    with pytest.raises(refusal) as error:
        read(path)
    assert str(tmp_path) in str(error.value)
    assert f"it has 10,737,418,240 bytes, and at most {most} are read" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_store_larger_than_any_is_not_given_to_keytool(tmp_path: Path) -> None:
    path = tmp_path / "trust.jks"
    path.touch()
    os.truncate(path, HUGE)
    with pytest.raises(SecurityError, match=r"trust\.jks: no store has more than 16,777,216 bytes$"):
        tls_context(Tls(truststore=Store(type="JKS", location=str(path), password=Secret("secret"))))


@pytest.mark.parametrize("of", ["snapshot", "configuration", "client.properties", "plan", "offsets"])
def test_a_device_without_an_end_is_refused(of: str) -> None:
    read, refusal, _ = READERS[of]
    with pytest.raises(refusal, match=r"/dev/zero.*a device, and no file"):
        read(Path("/dev/zero"))


@pytest.mark.parametrize("of", ["scenario", "journal", "checkpoint", "meta.properties", "metadata"])
def test_what_is_to_be_a_file_is_not_waited_for_where_it_is_a_pipe(of: str, tmp_path: Path) -> None:
    read, refusal, _ = READERS[of]
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(refusal, match="not a regular file"):
        read(tmp_path / "pipe")


def test_a_part_of_a_recording_is_no_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RecordingError, match="not a regular file"):
        read_header(tmp_path / "pipe")


def test_a_pipe_is_read_to_its_end_within_the_bound(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    def through_the_pipe(data: bytes, most: int) -> bytes:
        writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(data,))
        writer.start()
        try:
            return read_whole(tmp_path / "pipe", most)
        finally:
            writer.join()

    data = os.urandom(50_000)
    assert through_the_pipe(data, len(data)) == data
    with pytest.raises(OSError, match="it has more than 49,999 bytes, the most that are read"):
        through_the_pipe(data, len(data) - 1)


def test_what_says_nothing_of_its_size_is_read_all_the_same() -> None:
    assert read_whole("/proc/self/status", 1 << 20).startswith(b"Name:")
    assert read_whole(os.devnull, 0) == b""
    with pytest.raises(IsADirectoryError):
        read_whole("/", 1 << 20)


def test_lines_of_a_text_end_as_python_has_it(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes("ä\r\nb\rc\n".encode())
    assert read_text(tmp_path / "text") == "ä\nb\nc\n" == (tmp_path / "text").read_text(encoding="utf-8")


def test_a_file_of_just_the_bound_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(10))
    assert read_whole(path, 10) == bytes(10)
    with pytest.raises(OSError, match="it has 10 bytes, and at most 9 are read"):
        read_whole(path, 9)
