"""Logs of changes as databases write them: Debezium, Maxwell, Canal."""
