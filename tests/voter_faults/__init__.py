"""Random faults of three voters of ours that rule real brokers; what was acknowledged has to be there afterwards."""
