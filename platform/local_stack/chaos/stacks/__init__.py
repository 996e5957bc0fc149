"""On which stack are faults inflicted, and what trains there meanwhile?

- `target_stack`: what of a stack can be seen and hit from outside
- `private_stack`: one of which nothing is left at the end
- `running_stack`: the one that `./dev up` runs, if a person says so
- `doubles`: a second `api`, `beat` and `control` beside those of the stack
- `workload`, `job_folders`: which jobs train, and where their files are
"""
