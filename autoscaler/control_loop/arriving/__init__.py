"""Is what the platform has to fetch for jobs there? What is not is fetched, and jobs wait.

A job keeps the version that it began with: all its workers see the same files, whenever they join.
While its data is on the way, a job that waits takes no GPUs, and one that trains goes on without
its joiners, as while their images are fetched.

repositories  code of git repositories, which jobs need before anything else
arrivals  data: what ended, what is wanted, what is begun, what each job lacks
other_jobs  jobs that wait for others to end
full_teams  jobs whose team has no room on the disk: they fetch nothing
limited_teams  jobs whose team or array may run no more, or has no GPU-hours left
team_budgets   counts what teams with a budget have used in the month, and tells them
telling   what stands on a job meanwhile
wants     which versions jobs have, or want
orders    what a fetcher is told, with the team's secret
"""
