"""A drill that was played: looked up moment by moment, as rows and as texts."""
