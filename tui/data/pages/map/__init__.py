"""The partition map from farther away: topics against brokers or racks, brokers and racks by what they hold."""
