"""kdrill beside real Kafka: what it shows, decides, serves and writes is what Kafka's own releases do."""
