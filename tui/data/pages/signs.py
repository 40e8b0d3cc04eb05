"""How a severity is shown: a letter first, a colour second."""

from model.cluster.findings.finding import SEVERITIES, Severity

MARKS: dict[Severity, str] = {"error": "X", "warn": "!", "info": ""}
"""What stands before the row."""

WORDS: dict[Severity, str] = {"error": "CRIT", "warn": "WARN", "info": "info"}

STYLES: dict[Severity, str] = {"error": "error", "warn": "warn", "info": "info"}
"""Severity → style name."""

RANKS = {severity: rank for rank, severity in enumerate(SEVERITIES)}
"""Worst first."""
