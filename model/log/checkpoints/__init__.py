"""Small files beside the segments: checkpoints, meta.properties, partition.metadata, the clean mark."""
