"""What does a batch script for Slurm's `sbatch` ask for, and what would its job be here?

- `batch_script`: the script as a job spec
- `headers`: its lines `#SBATCH`, and what runs it
"""
