"""Kafka's wire protocol over TCP: frames, messages, connections and a small server. It knows no message's meaning."""
