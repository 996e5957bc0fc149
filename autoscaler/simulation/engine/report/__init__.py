"""A comparison of policies as one HTML file that needs nothing else."""
