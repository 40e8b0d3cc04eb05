"""Which partition's log a record goes to: the producers' rules of each Kafka generation, as pure functions and values.

They are here, beside the logs they fill, for neither controller nor consumers have a part in it. None throws dice: what
chance decides is an argument.
"""
