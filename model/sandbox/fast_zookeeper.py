"""Starts the sandbox's ZooKeeper as fast as this machine can, with a class archive it builds for the next time.

It owns no server: the one it returns is the caller's to close.
"""

import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from platformdirs import user_cache_path

from model.sandbox.class_archive import ClassArchive
from model.sandbox.errors import SandboxError, ServerDiedError
from model.sandbox.java import Java, find_java
from model.sandbox.znode_session import ZnodeSession
from model.sandbox.znode_writes import CreateZnode, DeleteZnode, WriteZnode
from model.sandbox.zookeeper_jars import zookeeper_jars
from model.sandbox.zookeeper_options import ServerOptions
from model.sandbox.zookeeper_server import EmbeddedZooKeeper

# Building takes a second of CPU, which the program's own start needs more.
BUILD_AFTER_S = 5.0


def start_zookeeper(
    folder: Path | None = None,
    *,
    port: int = 0,
    options: ServerOptions | None = None,
    archives: Path | None = None,
    build_after_s: float = BUILD_AFTER_S,
) -> EmbeddedZooKeeper:
    """A started server, as EmbeddedZooKeeper takes its arguments; class archives are kept in `archives`.

    Raises SandboxError as EmbeddedZooKeeper.start does; never because of an archive.
    """
    java, jars = find_java(), zookeeper_jars()
    archive = ClassArchive.of(java, jars, archives or user_cache_path("kdrill"))
    server = partial(EmbeddedZooKeeper, folder, port=port, options=options, java=java, jars=jars)
    if archive.is_built():
        try:
            return server(java_flags=archive.flags()).start()
        except ServerDiedError:
            archive.discard()
    started = server().start()
    build = threading.Timer(build_after_s, archive.build, [partial(train, java, jars)])
    build.daemon = True
    build.start()
    return started


def train(java: Java, jars: Sequence[Path], archive: Path) -> None:
    """Run a server once, use it as clients do, and let Java write the classes it loaded to `archive`.

    Raises SandboxError when that did not work.
    """
    flags = [f"-XX:ArchiveClassesAtExit={archive}"]
    with EmbeddedZooKeeper(java=java, jars=jars, java_flags=flags) as server:
        session = ZnodeSession(server.address)
        session.apply([CreateZnode("/warm"), WriteZnode("/warm", b"up"), DeleteZnode("/warm")])
        session.close()
        if not server.stop():
            raise SandboxError("Java did not write the class archive in time.")
