"""Recordings: what changed in a cluster, as Parquet files that any moment can be rebuilt from."""
