"""Secrets made up for tests, one for each place, and every form in which one could get out."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from urllib.parse import quote

MARK = "Kanarienvogel"
"""Every canary has this within it: what is looked for is this one word in all its forms."""


def canary(place: str) -> str:
    """The secret of a place: `x7Kanarienvogel0f3a…`, the same in every run, another one for each place."""
    number = hashlib.sha256(place.encode()).hexdigest()
    return f"{number[:2]}{MARK}{number[2:12]}"


def _base64_inside(text: str, skip: int) -> bytes:
    """What of a text stands in the base64 of something longer, where it begins so many bytes into a group of three."""
    data = b"\0" * skip + text.encode()
    whole = base64.b64encode(data[: len(data) // 3 * 3])
    return whole[4:] if skip else whole


FORMS: Mapping[str, Callable[[str], bytes]] = {
    "as it is": str.encode,
    "lower case": lambda text: text.lower().encode(),
    "upper case": lambda text: text.upper().encode(),
    "backwards": lambda text: text[::-1].encode(),
    "hex": lambda text: text.encode().hex().encode(),
    "HEX": lambda text: text.encode().hex().upper().encode(),
    "spaced hex": lambda text: text.encode().hex(" ").encode(),
    "escaped hex": lambda text: "".join(f"\\x{ord(each):02x}" for each in text).encode(),
    "JSON escapes": lambda text: "".join(f"\\u{ord(each):04x}" for each in text).encode(),
    "JSON ESCAPES": lambda text: "".join(f"\\u{ord(each):04X}" for each in text).encode(),
    "percent": lambda text: "".join(f"%{ord(each):02X}" for each in text).encode(),
    "XML references": lambda text: "".join(f"&#{ord(each)};" for each in text).encode(),
    "numbers": lambda text: ", ".join(str(ord(each)) for each in text).encode(),
    "UTF-16 LE": lambda text: text.encode("utf-16-le"),
    "UTF-16 BE": lambda text: text.encode("utf-16-be"),
    "base64, 0 bytes in": lambda text: _base64_inside(text, 0),
    "base64, 1 byte in": lambda text: _base64_inside(text, 1),
    "base64, 2 bytes in": lambda text: _base64_inside(text, 2),
}
"""Form → the bytes of a text in it. Percent escapes of letters are what no program writes; `quote` leaves them."""

NEEDLES: Mapping[str, bytes] = {form: written(MARK) for form, written in FORMS.items()}


def forms_in(data: bytes) -> list[str]:
    """In which forms any canary is in these bytes."""
    return [form for form, needle in NEEDLES.items() if needle in data]


def written_as(form: str, text: str) -> bytes:
    """The whole text in a form, as a program would write it."""
    if form.startswith("base64"):
        return base64.b64encode(b"." * int(form.split()[1]) + text.encode())
    return FORMS[form](text)


assert quote(MARK) == MARK
