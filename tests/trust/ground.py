"""A home of its own for kdrill: whatever it writes, anywhere, is below one folder, and can be searched."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from model.sandbox.embedded_zookeeper import ZnodeSession
from tests.demo_tree import demo_tree
from tests.trust.canaries import canary
from tests.trust.leaks import Search
from tests.trust.secret_tree import writes

TOPIC, BROKER = "orders", 1
SECRET_VARIABLES = {name: canary(name) for name in ("CANARY_ENV", "CANARY_KEY")} | {
    "CANARY_AUTH": f"digest:alice:{canary('CANARY_AUTH')}"
}
FOLDERS = {
    "HOME": "home",
    "XDG_CONFIG_HOME": "config",
    "XDG_STATE_HOME": "state",
    "XDG_CACHE_HOME": "cache",
    "XDG_DATA_HOME": "data",
    "XDG_RUNTIME_DIR": "run",
    "TMPDIR": "tmp",
}
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
PROPERTIES = f"""
security.protocol=SASL_PLAINTEXT
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config={SCRAM} required username="alice" password="${{env:CANARY_ENV}}";
ssl.key.password=${{file:secret.properties:key}}
ssl.truststore.password={canary("truststore")}
zookeeper.ssl.keystore.password={canary("zookeeper keystore")}
an.unknown.password={canary("an unknown password")}
"""
CONFIG = """
[clusters.prod]
zookeeper = ["{server}"]
chroot = "{chroot}"
auth = {{ env = "CANARY_AUTH" }}
command_config = "client.properties"

[clusters.inline]
zookeeper = ["127.0.0.1:1"]
auth = "digest:bob:{inline}"
sasl = {{ username = "bob", password = "{sasl}" }}

[clusters.brokers]
kafka = ["127.0.0.1:1"]
command_config = "client.properties"
"""


@dataclass
class Ground:
    """`mine` are files with canaries that the test wrote; `folder` has all else, `work` is the current folder."""

    folder: Path
    mine: Path
    source: str
    server: subprocess.Popen[str]
    said: list[tuple[str, bytes]] = field(default_factory=list[tuple[str, bytes]])
    """What was written to no file: what it is, and its bytes."""

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def run(self, *words: str) -> int:
        """kdrill, to its end; what it says is kept. The exit code."""
        out, err = (self.mine / f"{len(self.said)}-{name}" for name in ("out", "err"))
        code = self.run_with(words, out, err)
        self.said += [(f"{words} out", out.read_bytes()), (f"{words} err", err.read_bytes())]
        return code

    def run_on_a_terminal(self, *words: str) -> int:
        """The same with both outputs on a terminal."""
        ours, theirs = pty.openpty()
        heard: list[bytes] = []

        def read() -> None:
            with suppress(OSError):  # nobody has it open any more
                while data := os.read(ours, 65_536):
                    heard.append(data)

        reader = threading.Thread(target=read)
        reader.start()
        place = Path(os.ttyname(theirs))
        code = self.run_with(words, place, place)
        os.close(theirs)
        reader.join()
        os.close(ours)
        self.said.append((f"{words} terminal", b"".join(heard)))
        return code

    def run_with(self, words: tuple[str, ...], out: Path, err: Path) -> int:
        """The exit code; what it says is written there."""
        assert self.server.stdin is not None and self.server.stdout is not None
        print(json.dumps({"words": words, "out": str(out), "err": str(err)}), file=self.server.stdin, flush=True)
        return int(self.server.stdout.readline())

    def searched(self) -> Search:
        """All that was said and written."""
        search = Search()
        search.look_into(self.folder)
        for name, data in self.said:
            search.look(name, data)
        return search


@contextmanager
def ground(folder: Path, zookeeper: str) -> Iterator[Ground]:
    """On the demo cluster with canaries, at `host:port/root`."""
    (mine := folder / "mine").mkdir()
    for place in ("work", *FOLDERS.values()):
        (folder / "all" / place).mkdir(parents=True, mode=0o700)
    server, _, root = zookeeper.partition("/")
    config = CONFIG.format(
        server=server, chroot=f"/{root}/kafka", inline=canary("inline auth"), sasl=canary("inline sasl")
    )
    given = {
        "config.toml": config,
        "client.properties": PROPERTIES,
        "secret.properties": f"key={canary('file provider')}\n",
    }
    for name, text in given.items():
        (mine / name).touch(mode=0o600)
        (mine / name).write_text(text)
    with demo_tree(zookeeper) as tree:
        plant(zookeeper)
        with forked(folder / "all", mine) as server:
            yield Ground(folder / "all", mine, tree.source, server)


@contextmanager
def forked(folder: Path, mine: Path) -> Iterator[subprocess.Popen[str]]:
    """The server that runs kdrill, at home in the folder."""
    command = [sys.executable, "-m", "tests.trust.fork_server"]
    environment = {**environment_in(folder), "KDRILL_CONFIG": str(mine / "config.toml"), "PYTHONPATH": os.getcwd()}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=folder / "work", text=True
    ) as server:
        yield server


def environment_in(folder: Path) -> dict[str, str]:
    """Of a process that is at home in the folder, and of secrets in variables."""
    places = {name: str(folder / place) for name, place in FOLDERS.items()}
    return {**os.environ, **places, **SECRET_VARIABLES}


def plant(zookeeper: str) -> None:
    """Canaries, all over the demo cluster's tree at `host:port/root`."""
    server, _, root = zookeeper.partition("/")
    session = ZnodeSession(server, f"/{root}/kafka")
    session.apply(writes(TOPIC, BROKER))
    session.close()
