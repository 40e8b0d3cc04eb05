"""Prometheus' text format 0.0.4, read strictly as its specification has it: what does not fit it, fails."""

from __future__ import annotations

import re

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_HELP = re.compile(rf"# HELP ({_NAME}) ((?:[^\\\n]|\\\\|\\n)*)")
_TYPE = re.compile(rf"# TYPE ({_NAME}) (gauge|counter)")
_LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^\\"\n]|\\\\|\\"|\\n)*"'
_SAMPLE = re.compile(rf"({_NAME})(?:\{{({_LABEL}(?:,{_LABEL})*)?\}})? (NaN|[+-]Inf|-?[0-9.]+(?:e[+-]?[0-9]+)?)")
_ONE_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^\\"\n]|\\.)*)"')
_ESCAPES = {r"\\": "\\", r"\"": '"', r"\n": "\n"}

Labels = frozenset[tuple[str, str]]


def parsed(text: str) -> dict[str, tuple[str, str, dict[Labels, float]]]:
    """Name → help, type, samples. Each family is in one piece, HELP and TYPE first; no sample is there twice."""
    assert text.endswith("\n") or not text
    families: dict[str, tuple[str, str, dict[Labels, float]]] = {}
    lines = text.split("\n")[:-1]
    place = 0
    while place < len(lines):
        told = _HELP.fullmatch(lines[place])
        kind = _TYPE.fullmatch(lines[place + 1])
        assert told, lines[place]
        assert kind, lines[place + 1]
        assert told[1] == kind[1] and told[1] not in families
        samples: dict[Labels, float] = {}
        place += 2
        while place < len(lines) and not lines[place].startswith("#"):
            found = _SAMPLE.fullmatch(lines[place])
            assert found, lines[place]
            labels = [(name, _unescaped(value)) for name, value in _ONE_LABEL.findall(found[2] or "")]
            assert found[1] == told[1] and len({name for name, _ in labels}) == len(labels)
            assert frozenset(labels) not in samples
            samples[frozenset(labels)] = float(found[3])
            place += 1
        families[told[1]] = (_unescaped(told[2]), kind[2], samples)
    return families


def _unescaped(text: str) -> str:
    return re.sub(r"\\.", lambda found: _ESCAPES[found[0]], text)
