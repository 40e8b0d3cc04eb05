"""What came of a scenario. Values only."""

import msgspec

from model.sandbox.load.report import AuditReport


class StepOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One step."""

    step: int
    at_s: float
    """When it was begun, in seconds after everything served."""
    took_s: float
    passed: bool
    text: str


class ScenarioOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """All of it; the line that a headless run ends with."""

    format: str = "kdrill.scenario/1"
    name: str
    passed: bool
    steps: tuple[StepOutcome, ...]
    audit: AuditReport | None = None
