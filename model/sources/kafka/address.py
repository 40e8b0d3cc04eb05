"""`kafka://host:port[,host:port…]`, parsed. Resolves no names."""

import msgspec

from model.sources.source import SourceError
from model.sources.zookeeper.address import check_no_login, host_and_port

SCHEME = "kafka://"
DEFAULT_PORT = 9092


class KafkaAddress(msgspec.Struct, frozen=True):
    """Brokers that are asked first; they know the others."""

    brokers: tuple[tuple[str, int], ...]

    @property
    def bootstrap(self) -> str:
        """As Kafka's `bootstrap.servers`."""
        return ",".join(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in self.brokers)

    def __str__(self) -> str:
        return f"{SCHEME}{self.bootstrap}"


def parse_address(source: str) -> KafkaAddress:
    """A SOURCE of the form `kafka://…`, or a list of brokers without the scheme; raises SourceError with one line."""
    check_no_login(source)
    listed = source.removeprefix(SCHEME).rstrip("/")
    if not listed or "/" in listed:
        wrong = "names no broker" if not listed else f"a path in {listed!r} means nothing here"
        raise SourceError(f"{source!r}: {wrong}: write kafka://host:port[,host:port…]")
    servers = (host_and_port(source, text.strip(), DEFAULT_PORT).rpartition(":") for text in listed.split(","))
    return KafkaAddress(tuple((host.strip("[]"), int(port)) for host, _, port in servers))
