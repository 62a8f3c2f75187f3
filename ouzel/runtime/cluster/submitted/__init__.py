"""Topologies that are submitted and stay: nobody's children, known by name, with all that they need in OUZEL_HOME.

state/                        the registry, a state manager on files (see registry.py)
topologies/NAME/submitted/    what was submitted: key, program, description, and what commands show of it (see folder.py)
topologies/NAME/runs/RUN/     the job directory of a run, reached by a short link in TMPDIR, for sockets have short paths; in it its epochs,
                              unless the query says where (see ouzel/runtime/checkpoints/)
topologies/NAME/results/      the result of a trailing SELECT, by start
"""
