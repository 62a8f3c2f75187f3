"""What is known of submitted topologies: snapshots of them, epochs, exceptions and results."""
