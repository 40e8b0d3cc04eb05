"""What looks wrong with a cluster, derived from its image. Changes nothing and reads nothing but the image."""

from model.cluster.findings.check import SEVERITIES, Finding, Severity
from model.cluster.findings.find import SEVERITY, Findings, find

__all__ = ["SEVERITIES", "SEVERITY", "Finding", "Findings", "Severity", "find"]
