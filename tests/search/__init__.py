"""All properties of the suite with examples that the suite does not play: `python -m tests.search --minutes 60`."""
