"""What can be asked about jobs that are trials of one spec?

- `arrays`: all jobs of an array, and what they are told
- `sweeps`: trials of which the best are searched
"""
