"""Bytes as Java would print them."""

import re
from collections.abc import Callable

Show = Callable[[bytes], bytes]
"""Untrusted bytes made fit to print."""

_SURROGATES = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")


def java_text(data: bytes) -> str:
    """UTF-8 with U+FFFD for what is malformed, as `new String(bytes, UTF_8)` puts it.

    Java's rule differs from Python's for encoded surrogates only: one mark for all of their bytes.
    """
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _SURROGATES.sub(b"\xff", data).decode(errors="replace")


def as_java_prints(data: bytes) -> bytes:
    """The bytes themselves where they are UTF-8, with marks otherwise; control characters go through."""
    return data if data.isascii() else java_text(data).encode()
