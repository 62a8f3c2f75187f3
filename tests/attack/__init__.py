"""Attacks on whole topologies: `make attack`, or `python -m tests.attack --seed 7 --seconds 600 kills stops`."""
