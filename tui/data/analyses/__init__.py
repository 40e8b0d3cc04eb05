"""Analyses for the terminal: worked out here or on Spark beside everything else, kept, and looked at."""
