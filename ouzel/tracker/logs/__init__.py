"""Files of containers, and the pages that show logs."""
