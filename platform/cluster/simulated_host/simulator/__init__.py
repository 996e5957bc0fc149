"""The program in which all simulated processes of an installation live.

`python -m cluster.simulated_host.simulator --state-dir FOLDER` runs it; the service never loads it.

- `__main__`: puts the program together
- `door`: takes what the service asks for
- `world`: starts, stops and lists processes, and lets time pass
- `job_at_large`: one job's coordinator, time and processes
- `job`: what becomes of the workers of one job
- `coordinator`: the real coordinator of a job, but for its sockets and files
- `report_counts`: what became of all reports, for who measures the service
- `progress`: how far a training is, and what it would tell of itself
- `behaviour`: what a job's command says about its training
"""
