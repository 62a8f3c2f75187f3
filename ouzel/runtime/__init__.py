"""What runs a topology: state machines, operators, the processes around them, and the simulator."""

import os

# gRPC reads this when it is first imported. By default its core starts a thread in every forked child, also in one that is about to call
# exec. That thread polls a descriptor that Python has closed, and ends the child: one Spark session in twenty did not start
# (grpc/grpc#43055). No process of ours forks after it has used gRPC.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
