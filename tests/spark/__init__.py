"""Analyses on Spark, local and on a cluster: the same answers as in process, and what happens when its parts die."""
