"""Can this spec ever run here? The checks that need the teams, pools, quotas and secrets there are.

call           which specs of one call are accepted
notes          what goes with an accepted one
spec_checks    all checks of one spec
team_records   by which records of its team a spec is judged
earlier_runs   what an earlier run of the same training measured
code_snapshots is the code there that a job is to run
start_sources  from which checkpoints and models a job may start
rules          what a team's rules and templates make of a spec that was sent
dependencies   for which other jobs a job waits
data_use       which data a job uses, and which live jobs use a source
secret_use     which secrets a job needs, and which live jobs need a secret
pool_capacity  what a submit must know of a pool
disk_limits    how much a job may write, and all jobs of a team
"""
