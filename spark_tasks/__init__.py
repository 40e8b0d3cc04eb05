"""Analyses too wide for one process, run on Spark. The only package that may import pyspark."""
