"""The brokers' screen: who controls, what it holds in memory, what it was asked for and has not done."""
