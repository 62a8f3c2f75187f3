"""Checkpoints at rest: what all tasks of a topology kept in one epoch, as files of one folder.

owner                                  whose folder it is (see owner.py)
epochs/EPOCH                           the manifest of a complete epoch (see manifest.py), renamed into place last
tasks/EPOCH.COMPONENT.N.DIGEST.task    what one task kept in one epoch, or what had changed since its file before (see task_file.py)

A file never changes once it has its name, and a task's file is named by its content: whoever is late and writes an epoch again replaces
nothing. What begins with a dot is being written, or its writer died.
"""
