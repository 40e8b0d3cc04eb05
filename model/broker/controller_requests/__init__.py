"""What a broker does about LeaderAndIsr, UpdateMetadata and StopReplica, and its answers. It knows no wire format."""
