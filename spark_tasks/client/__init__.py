"""Starts the process that Spark runs in, and gives it jobs. Imports no Spark."""
