"""Ours and a rival, measured in one run: `uv run python -m tests.benchmarks [NAME…]`. No test runs them."""
