"""An image as a cluster that could have lived: its znodes, its controllers' memories, its brokers' replicas."""
