"""What the pages of the cluster show, and what an admin does there."""
