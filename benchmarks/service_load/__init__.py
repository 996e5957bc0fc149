"""How many running jobs does one service carry, and what does each of them cost it?

`python -m benchmarks.service_load` starts a stack of its own, with api, control, beat, io,
PostgreSQL and Valkey as `./dev up` starts them, and fills it with jobs whose coordinators speak the
real protocol (`docs/operations/worker-hosts.md`, simulated jobs). It prints what each operation
costs beside the goals of `docs/operations/sizing.md`. `--jobs 30 100 300` draws how that grows;
`--against FOLDER` measures another checkout in turns with this one.

- `measuring`: what is measured at one number of jobs
- `reads`: what each read costs beside the reports of all jobs
- `measurement`: what came out
- `goals`: the table, and whether goals are met
- `growth`: charts over the number of jobs
- `side_by_side`: two checkouts in turns
- `open_pages`: what open overviews cost, a program of its own
"""
