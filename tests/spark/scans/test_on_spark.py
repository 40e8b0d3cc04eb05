"""The same scan on Spark."""

from __future__ import annotations

from pathlib import Path

from model.analyses import analysis
from model.analyses.scans.combining import SCAN
from spark_tasks.registry import find
from tests.spark.running_spark import RunningSpark
from tests.spark.scans.scanning import listed


def test_the_registry_knows_it() -> None:
    assert find(SCAN.name) is SCAN


def test_a_scan_on_spark_finds_the_same(spark: RunningSpark, corpus: Path) -> None:
    parameters = listed(corpus / "damaged", corpus / "k39-clean", corpus / "v1-by-3.9", deep=True)
    assert spark.run(SCAN, {}, parameters) == analysis.run_here(SCAN, {}, parameters)
