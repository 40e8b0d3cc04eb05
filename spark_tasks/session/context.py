"""Spark's context: joined to its Java, given our code, warmed."""

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark import SparkConf, SparkContext, java_gateway

from spark_tasks.errors import SparkLost
from spark_tasks.session.code_zip import write_code
from spark_tasks.session.complaints import in_one_line
from spark_tasks.session.java_process import JavaProcess
from spark_tasks.session.kernel_task import warm

_java_gateway: Any = java_gateway  # it has no types


def open_context(java: JavaProcess, settings: Mapping[str, str], code: Path | None) -> Any:
    """A SparkContext, whose executors get our code by the zip `code` where that is given. Raises SparkLost."""
    port, secret = java.gateway()
    os.environ.update({"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret})
    try:
        gateway = _java_gateway.launch_gateway()
        conf = SparkConf(loadDefaults=False, _jvm=gateway.jvm)
        context: Any = SparkContext(conf=conf.setAll(list(settings.items())), gateway=gateway)
        context._accumulatorServer.handle_error = _say_nothing
        if code is not None:
            context.addPyFile(str(write_code(code)))
    except Exception as error:
        reason = java.how_it_ended() if java.has_ended() else _reason(error)
        raise SparkLost(f"Spark can't start on {settings['spark.master']}: {reason}") from error
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]
    return context


def warm_up(context: Any, java: JavaProcess, timeout_s: float) -> None:
    """Have every core run a task, which starts its worker. Raises SparkLost, also when none did in `timeout_s`."""
    overdue = threading.Event()

    def give_up() -> None:
        overdue.set()
        context.cancelAllJobs()

    timer = threading.Timer(timeout_s, give_up)
    timer.daemon = True
    timer.start()
    try:
        cores = context.defaultParallelism
        context.parallelize(range(cores), cores).mapPartitions(warm).collect()
    except Exception as error:
        if overdue.is_set():
            reason = f"no executor ran a first task within {timeout_s:g} s: has the cluster free workers?"
        else:
            reason = java.how_it_ended() if java.has_ended() else _reason(error)
        raise SparkLost(reason) from error
    finally:
        timer.cancel()


def _reason(error: Exception) -> str:
    return in_one_line(str(error)) or type(error).__name__


def _say_nothing(*_: object) -> None:
    """Of the end of a connection that always ends with Java: a page on standard error otherwise."""
