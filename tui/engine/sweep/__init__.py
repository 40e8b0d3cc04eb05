"""Failure drills over the whole cluster: what is asked, as rows and texts."""
