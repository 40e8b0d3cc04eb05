"""What looks wrong with a cluster, derived from its image. Changes nothing and reads nothing but the image."""

from model.cluster.findings.checks import SEVERITY
from model.cluster.findings.find import Findings, find
from model.cluster.findings.finding import SEVERITIES, Finding, Severity

__all__ = ["SEVERITIES", "SEVERITY", "Finding", "Findings", "Severity", "find"]
