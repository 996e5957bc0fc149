"""What does the planner see? The cluster as one value of `planning.snapshot`.

cluster_view    all of it: pools, quotas, jobs, and what changed lately
planned         remembers what the planner saw of each job
histories       what was measured of many jobs
planned_job     one job: its terms, its workers, what was measured of it
job_terms       what the user asked for
scale_metrics   the metric on which a job scales, and what it logged of it last
slow_workers    a job's slow workers
change_times    how long changes took lately, and between which nodes
growth          jobs that should not grow again yet
pool_view       nodes, policies, and how pools admit and reclaim
team_quotas     what each team is given of each pool
"""
