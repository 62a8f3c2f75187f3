"""The machines of a cluster's processes: what they do, without sockets, threads, files or clocks. The shells are in `runtime/process`.

A machine's `on_…` methods take what has happened, and when, and return instructions; its shell carries them out, in order.
"""
