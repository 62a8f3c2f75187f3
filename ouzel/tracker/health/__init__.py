"""How healthy a topology is, after Dhalion: sensors read numbers, detectors find symptoms in them, diagnosers say what is the matter.

readings.py      the numbers
sensors.py       takes them from a snapshot, the history of its run, and its epochs
detectors.py     a table: what is not as it should be
diagnosers.py    a table: why, with the symptoms as evidence, and what to do
resolvers.py     a table: what is done about it by itself
regulator.py     a machine: when that is done, and whether it helped
treatments.py    what it remembers
manager.py       the shell of it: `ouzel health`
"""
