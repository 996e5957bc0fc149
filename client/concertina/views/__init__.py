"""What do people see? Functions from documents to things `rich` can draw; they ask nothing.

- `jobs`: a list of jobs; `description`: one job, whole; `explanation`: a decision about it
- `cluster`: pools and teams; `secrets`, `data_sources`: what jobs may name
- `results`, `keeping`: what they leave behind, and for how long
- `changes`: what was changed of a job; `usage`: what its workers take
- `problems`: a refusal
"""
