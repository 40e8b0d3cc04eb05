"""Sweeps, previews and plans, worked out in this process or on Spark, and kept. It reaches no cluster."""
