"""A drill that was played, moment by moment, and drills over the whole cluster: as rows, texts and maps."""
