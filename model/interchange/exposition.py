"""Metrics as Prometheus reads them: the text format, version 0.0.4. It knows nothing of Kafka.

Source: prometheus.io, "Exposition formats", text-based format. Samples carry no time, as node_exporter's textfile
collector demands.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec


class Sample(msgspec.Struct, frozen=True):
    """One value; `labels` by name."""

    value: float
    labels: Mapping[str, str] = {}


class Family(msgspec.Struct, frozen=True):
    """A metric with all of its samples; one without samples is not written. Names are as Prometheus allows them."""

    name: str
    help: str
    samples: tuple[Sample, ...]
    type: Literal["gauge", "counter"] = "gauge"


def exposition(families: Iterable[Family]) -> str:
    """The text, each family once, with its HELP and TYPE; it ends with a newline."""
    return "".join(_family(family) for family in families if family.samples)


def _family(family: Family) -> str:
    told = family.help.replace("\\", r"\\").replace("\n", r"\n")
    lines = [f"# HELP {family.name} {told}", f"# TYPE {family.name} {family.type}"]
    lines += [f"{family.name}{_labels(sample.labels)} {_number(sample.value)}" for sample in family.samples]
    return "\n".join(lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    inside = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{inside}}}" if inside else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    if math.isfinite(value):
        return repr(int(value)) if value == int(value) else repr(value)
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
