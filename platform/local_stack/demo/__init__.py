"""What does a newcomer watch first? Real training jobs of two teams that share this machine.

- `run`: service up, jobs in, live table, summary
- `workload`, `scripts`: which jobs, and where their scripts are
- `conductor`: submits each job when its time has come, and asks for all of them
- `screen`, `summary`: what a person sees meanwhile, and at the end
"""
