"""How many findings of each kind there are, and how many partitions they are about. Adds up and subtracts."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from model.cluster.findings.checks import SEVERITY
from model.cluster.findings.finding import Finding, Severity


def _none() -> Counter[str]:
    return Counter()


@dataclass(frozen=True)
class Census:
    """By kind; kinds of which there are none are left out."""

    findings: Counter[str] = field(default_factory=_none)
    partitions: Counter[str] = field(default_factory=_none)

    def of(self, severity: Severity) -> int:
        """How many findings are this serious."""
        return sum(count for kind, count in self.findings.items() if SEVERITY[kind] == severity)

    def after(self, gone: Iterable[Finding], came: Iterable[Finding]) -> "Census":
        """The counts after these findings went and those came."""
        findings, partitions = self.findings.copy(), self.partitions.copy()
        for sign, some in ((1, came), (-1, gone)):
            for one in some:
                findings[one.kind] += sign
                partitions[one.kind] += sign * len(one.partitions)
        return Census(+findings, +partitions)
