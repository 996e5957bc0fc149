"""What do the reports of very many jobs cost, and how soon is an overload by them over?

    python -m benchmarks.reporting --jobs 300 1000         # cores, reports, answers
    python -m benchmarks.reporting --jobs 1000 --storm 10  # then ten times as many, then as before

Starts PostgreSQL, Valkey and `api` as `./dev up` does, but nothing else, and fills the database
with jobs that train. Their coordinators are played by this process over HTTP: they only report and
wait to be woken, and come again when the service says so. That takes a tenth of what the
coordinators of `benchmarks.service_load` take, which do all that real ones do, so that a machine of
two cores is not full of them.

- `one_report`: what a single report costs; a benchmark by itself
- `crowd`: the coordinators
- `wire`: how they talk with the service
- `storm`: many more reports, of senders that heed nothing
- `monitoring`: how soon somebody else hears meanwhile how the service is
- `measuring`: what is measured, and what is printed of it
"""
