"""What a controller does, by subject, one step at a time. A step is a frozen value that carries out nothing.

Source: `kafka.controller.KafkaController` and the state machines beside it (3.9).
"""
