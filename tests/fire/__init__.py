"""Pairs of connectors under fire: `make fire`, or `python -m tests.fire --seed 7 --events 200000 kafka-redis`."""
