"""Groups that brokers coordinate, as records: asked over Kafka's protocol, again and again. Writes nothing."""
