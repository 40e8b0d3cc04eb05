"""What a master's address means: whether it is one, whether it is this machine, and whether anybody listens there."""

import re
import socket
from collections.abc import Iterator

from spark_tasks.errors import SparkLost

FORMS = "local[2], spark://host:7077, yarn or k8s://https://host:port"
_LOCAL = re.compile(r"local(?:\[(\*|[1-9]\d{0,3})(?:,[1-9]\d?)?\])?", re.ASCII)
_STANDALONE = re.compile(r"spark://([^\s/,:@]+:\d{1,5}(?:,[^\s/,:@]+:\d{1,5})*)", re.ASCII)
_OTHER = re.compile(r"yarn|k8s://\S+", re.ASCII)
_LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}", re.ASCII)
RETRIES = 4
"""How often a task may lose its worker: Spark's own number for clusters. It has 1 where it runs locally."""


def check(master: str, timeout_s: float = 5.0) -> None:
    """Raises SparkLost for what is no master's address, and for a standalone master that does not answer."""
    if not any(form.fullmatch(master) for form in (_LOCAL, _STANDALONE, _OTHER)):
        raise SparkLost(f"--spark-master {master!r}: no master is written so; write {FORMS}")
    failures: list[str] = []
    for host, port in _addresses(master):
        try:
            socket.create_connection((host, port), timeout_s).close()
            return
        except (OSError, OverflowError, UnicodeError) as error:
            failures.append(f"{host}:{port} ({getattr(error, 'strerror', None) or error})")
    if failures:
        raise SparkLost(f"no Spark master answers at {', '.join(failures)}: is it running, and is the port right?")


def is_local(master: str) -> bool:
    """Whether its workers are processes of this machine that the session starts itself."""
    return _LOCAL.fullmatch(master) is not None


def is_on_loopback(master: str) -> bool:
    """Whether nothing outside this machine needs to reach the session."""
    return is_local(master) or any(_LOOPBACK.fullmatch(host) for host, _ in _addresses(master))


def as_spark_takes_it(master: str) -> str:
    """The same with retries: a local task whose worker was killed is to be tried again, as on a cluster."""
    found = _LOCAL.fullmatch(master)
    if found is None or "," in master:
        return master
    return f"local[{found[1] or 1},{RETRIES}]"


def _addresses(master: str) -> Iterator[tuple[str, int]]:
    if found := _STANDALONE.fullmatch(master):
        for address in found[1].split(","):
            host, _, port = address.rpartition(":")
            yield host, int(port)
