"""The ZooKeeper source: reads Kafka's znodes, follows every change, and tells them as records. Never writes."""
