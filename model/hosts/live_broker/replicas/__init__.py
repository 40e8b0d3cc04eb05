"""The replicas on a live broker: their logs, fetchers, waiting requests and ISR proposals. It decides nothing."""
