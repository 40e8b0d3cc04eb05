"""Pages of Spark's and Java's, as seen, and the line that is left of them."""

from __future__ import annotations

import pytest

from spark_tasks.session.java_process import in_one_line

NO_CONFIGURATION = """
WARNING: Using incubator modules: jdk.incubator.vector
Exception in thread "main" org.apache.spark.SparkException: When running with master 'yarn' HADOOP_CONF_DIR must be set.
\tat org.apache.spark.deploy.SparkSubmitArguments.error(SparkSubmitArguments.scala:630)
"""
NO_KUBERNETES = """An error occurred while calling None.org.apache.spark.api.java.JavaSparkContext.
: org.apache.spark.SparkException: External scheduler cannot be instantiated
\tat org.apache.spark.SparkContext$.createTaskScheduler(SparkContext.scala:3204)
Caused by: io.fabric8.kubernetes.client.KubernetesClientException: An error has occurred.
\tat io.fabric8.kubernetes.client.KubernetesClientException.launderThrowable(KubernetesClientException.java:129)
Caused by: java.net.ConnectException: Connection refused
\t... 1 more
"""
NO_LIBRARY = """An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times
  File "/opt/spark/worker.py", line 1, in main
ModuleNotFoundError: No module named 'msgspec'
\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:581)
"""
KILLED = """An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times
Caused by: org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (NO_CONFIGURATION, "When running with master 'yarn' HADOOP_CONF_DIR must be set."),
        (NO_KUBERNETES, "Connection refused"),
        (NO_LIBRARY, "the executors' Python lacks a library (ModuleNotFoundError: No module named 'msgspec')"),
        (KILLED, "a worker process was killed 4 times at the same task: is there enough memory?"),
        ("Error: out of luck\n", "Error: out of luck"),
        ("all is well\n", ""),
        ("", ""),
        (f"Error: {'x' * 1000}", f"Error: {'x' * 293}"),
    ],
)
def test_what_is_left(text: str, line: str):
    told = in_one_line(text)
    assert told.startswith(line)
    assert bool(told) is bool(line)
    assert len(told) <= 300
