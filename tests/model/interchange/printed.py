"""What Kafka's own tools printed, by the names of the files."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path("tests/data/kafka-tools")
HEALTHY = ("0.8.2.2-healthy", "3.9.1-healthy")


def printed(name: str) -> bytes:
    """`describe-3.9.1-killed`."""
    return (FOLDER / f"{name}.txt").read_bytes()
