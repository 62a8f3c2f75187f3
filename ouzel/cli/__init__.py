"""The command line: `ouzel run`, `explain`, `batch`, `reconcile`. It knows sessions, handles and terminals, and nothing below them."""
