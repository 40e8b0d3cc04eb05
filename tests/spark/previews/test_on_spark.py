"""The same previews on Spark."""

from __future__ import annotations

from model.analyses import analysis
from model.analyses.previews.group_arrays import stage
from model.analyses.previews.kernel import PREVIEWS
from model.analyses.previews.result import PreviewParameters
from spark_tasks.registry import find
from tests.spark.previews.many_groups import many_groups
from tests.spark.running_spark import RunningSpark


def test_the_registry_knows_them() -> None:
    assert find(PREVIEWS.name) is PREVIEWS


def test_previews_on_spark_say_the_same(spark: RunningSpark) -> None:
    staged = stage(many_groups(60, big=4_000))
    for parameters in (PreviewParameters(), PreviewParameters(each_leaves=True, join=3, detail=True)):
        on_spark = spark.run(PREVIEWS, staged.arrays, parameters)
        assert on_spark == analysis.run_here(PREVIEWS, staged.arrays, parameters)
        assert len(on_spark.groups) == 61
