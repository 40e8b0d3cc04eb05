"""Which addresses a process and all below it listen on, and whether only this machine reaches them. Needs Linux."""

from __future__ import annotations

import ipaddress
import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests.web.serving import descendants

_LISTEN = "0A"
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Listening(NamedTuple):
    """A socket that waits for connections, and whose it is: the command line's words."""

    address: Address
    port: int
    command: str

    @property
    def is_loopback(self) -> bool:
        """Java has IPv4 addresses within IPv6 ones."""
        mapped = self.address.ipv4_mapped if isinstance(self.address, ipaddress.IPv6Address) else None
        return (mapped or self.address).is_loopback


def listening_below(pid: int) -> list[Listening]:
    """Of the process and of all below it."""
    return [each for process in (pid, *descendants(pid)) for each in _of(process)]


def _of(pid: int) -> Iterator[Listening]:
    process = Path(f"/proc/{pid}")
    with suppress(OSError):  # it has ended
        command = " ".join(process.joinpath("cmdline").read_text().split("\0"))
        sockets = {os.readlink(entry.path) for entry in os.scandir(process / "fd")}
        for table in ("tcp", "tcp6"):
            for line in (process / "net" / table).read_text().splitlines()[1:]:
                columns = line.split()
                if columns[3] == _LISTEN and f"socket:[{columns[9]}]" in sockets:
                    host, _, port = columns[1].partition(":")
                    yield Listening(_address(host), int(port, 16), command)


def _address(text: str) -> Address:
    """Words of four bytes each, as this machine orders bytes."""
    words = [int(text[at : at + 8], 16) for at in range(0, len(text), 8)]
    return ipaddress.ip_address(struct.pack(f"={len(words)}I", *words))
