"""Forbids a Python process every address but its machine's own, and notes whoever tried. Copied as `sitecustomize.py`.

Every interpreter imports it before anything else, those of children too. A variable names the file of notes.
"""

import os
import sys

NOTES = "KDRILL_TEST_ELSEWHERE"
OWN_NAMES = ("localhost", "127.0.0.1", "::1")
WATCHED = {
    "socket.connect": 1,
    "socket.bind": 1,
    "socket.sendto": 1,
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
    "socket.gethostbyaddr": 0,
}
"""Audit events, and which of their arguments is the address, or a host's name."""


def refuse_elsewhere(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook. Addresses of other families than the internet's are texts, or begin with a number."""
    if event not in WATCHED:
        return
    address = arguments[WATCHED[event]]
    is_name = event.startswith("socket.get")
    host = address if is_name else address[0] if isinstance(address, tuple) and address else None
    if isinstance(host, bytes):
        host = host.decode(errors="replace")
    if not isinstance(host, str) or host in OWN_NAMES or host.startswith("127."):
        return
    with open(os.environ[NOTES], "a", encoding="utf-8") as notes:
        notes.write(f"{event} {address!r} by {' '.join(sys.orig_argv)[:300]}\n")
    raise PermissionError(f"{event} {address!r} is forbidden here")


if NOTES in os.environ:
    sys.addaudithook(refuse_elsewhere)
