"""Random histories of virtual clusters: a seed decides the cluster, what goes wrong and what operators do."""
