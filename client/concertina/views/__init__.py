"""What do people see? Functions from documents to things `rich` can draw; they ask nothing.

- `jobs`: a list of jobs; `job`: one of them, or of an array
- `fitting`: a table with no more columns than there is room for
- `installation`: pools, nodes and teams, and what else is not of one team
- `data_sources`: what jobs may name
- `team`: who is in one, what it may use, and which secrets and tokens it has
- `specs`: what a team says of the specs of its jobs
- `gpu_hours`: who used which GPUs for how long
- `results`, `keeping`: what they leave behind, and for how long
- `dependencies`: for whom a job waits, and who waits for it
- `outlook`: what would become of a job that is not submitted yet
- `problems`: a refusal
"""
