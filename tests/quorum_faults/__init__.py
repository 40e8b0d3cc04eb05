"""Random faults on a real KRaft quorum that is followed, and the image against Kafka's own tools and a fresh load."""
