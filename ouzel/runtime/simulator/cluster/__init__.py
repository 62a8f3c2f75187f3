"""Whole clusters in one process from one seed: the machines and shells of all processes, with faults at any point."""
