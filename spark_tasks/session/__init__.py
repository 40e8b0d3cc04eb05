"""The Spark session: how it is started, watched, given jobs, and ended. The only package that imports pyspark."""
