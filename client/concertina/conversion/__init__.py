"""What would a job of another system be here? A job spec, and a word on all that it cannot say.

`converted` is for all of them; each of the others reads one kind of file.

- `converting`: which kind a text is, and what becomes of it
- `converted`: the spec as it comes to be, and what is told beside it
- `slurm`: a batch script for Slurm's `sbatch`
- `determined_config`, `determined_search`: the configuration of an experiment of Determined
- `pytorch_job`: a PyTorchJob of Kubeflow's training operator
- `launchers`: commands that start workers elsewhere, where each worker is started by itself here
- `shell_commands`: the commands of a script, and where their words stand
- `documents`: parts of a document that was written by hand
- `job_file`: the spec as a file
- `quantities`: times and sizes as they are written there
"""
