"""What recordings tell of days and months: flaps, churn, rebalances, time without a leader, the worst moment."""
