"""Analyses too wide for a single loop, as numpy kernels over shared arrays. Spark runs them, or one process."""
