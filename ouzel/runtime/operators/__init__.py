"""Pure steps on batches, and how plan nodes become a chain of them."""
