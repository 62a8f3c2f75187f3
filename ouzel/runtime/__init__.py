"""What runs a topology: state machines, operators, the processes around them, and the simulator."""
