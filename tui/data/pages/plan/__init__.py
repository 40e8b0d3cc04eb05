"""What the plans' screen shows: brokers before and after, the changes, and what the plan comes to."""
