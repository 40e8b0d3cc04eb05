"""The decisions of Kafka's controller, as pure functions of immutable values.

Nothing here does what it decides: no ZooKeeper, no request, no clock, no dice. Sources are Kafka's classes under
`kafka.controller` and `org.apache.kafka.admin`, 0.8.0 to 3.9; what differs between releases is in `generations`.
"""
