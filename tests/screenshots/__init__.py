"""Pictures of the real program for the README: `python -m tests.screenshots`. Needs Pillow, which users do not."""
