"""Sparks that all tests of analyses share: they take seconds to start, and stay until the last test."""

from collections.abc import Iterator

import pytest

from tests.spark.running_spark import RunningSpark
from tests.spark.standalone_cluster import StandaloneCluster
from tests.thorough import the_rest_when_asked


@pytest.fixture(scope="package")
def local_spark() -> Iterator[RunningSpark]:
    """On `local[2]`. Tests share it: harm only your own."""
    with RunningSpark("local[2]") as spark:
        spark.wait_for(spark.client.start())
        yield spark


@pytest.fixture(scope="package")
def spark_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneCluster]:
    """A master and two workers."""
    with StandaloneCluster(tmp_path_factory.mktemp("spark-cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="package")
def cluster_spark(spark_cluster: StandaloneCluster) -> Iterator[RunningSpark]:
    """On the cluster of two workers."""
    with RunningSpark(spark_cluster.master) as spark:
        spark.wait_for(spark.client.start())
        yield spark


@pytest.fixture(params=the_rest_when_asked(["local_spark", "cluster_spark"]))
def spark(request: pytest.FixtureRequest) -> RunningSpark:
    """One after the other."""
    return request.getfixturevalue(request.param)
