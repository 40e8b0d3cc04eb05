"""Znode paths ⇄ typed payloads, every version from Kafka 0.8 to 3.9. Pure: nothing here talks to ZooKeeper.

`paths.recognise` says what a path is, `codec.decode` and `codec.encode` turn bytes into frozen values and back,
`secrets.redact` takes credentials out of bytes before anybody sees them. A malformed payload is a value (`Unreadable`),
never an exception. It will not judge a cluster: an odd but readable payload is decoded as it stands.
"""
