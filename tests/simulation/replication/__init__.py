"""Random histories of records: real decisions of brokers on logs in memory, under controllers of a virtual cluster."""
