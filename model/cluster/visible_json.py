"""JSON whose text a terminal can be shown: nothing in it is obeyed, turned around or hidden. Knows no document."""

import json
import re

_PLAIN = re.compile(rb"[\x20-\x7e\n]*")
_UNCERTAIN = re.compile(r"[^\x20-\x7e\n]")


def visible_json(document: bytes) -> bytes:
    """The same values: controls, bidirectional and invisible characters are written as escapes; letters stay."""
    if _PLAIN.fullmatch(document):
        return document
    return _UNCERTAIN.sub(lambda found: _escaped(found[0]), document.decode()).encode()


def _escaped(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]
