"""Spark in a process of its own, ordered about by JSON lines: `python -m spark_tasks`."""
