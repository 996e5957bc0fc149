"""Which endpoints need several applications at once, which may not import one another?

urls     which address under /api/v1 leads where
teams    teams, their quotas, secrets and images
replays  what the recent past would have been with other quotas
cluster  how the cluster is used; pools, nodes and prefetched images
setup    all that admins set up, as one document
size_advice  how many workers would have been right for a job
ticks    what the autoscaler did, and what a GPU was worth
usage    who used, lent and borrowed how much GPU time
events   what happens to all jobs that somebody sees
live     reads of a page, sent again when they changed
webhooks  who is told of events
job_rules  what a team says of the specs of its jobs
schedules  what is submitted again and again
sweeps   which values of parameters are the best
shells   commands of people beside workers
logs     what a job's workers wrote
uploads  how code and data come in
data_sources  which data jobs may name
results  what it left behind: outputs and checkpoints
audit    how each request gets into the audit log
people   who is logged in, and by which keys
health   does the service work?
monitoring  what Prometheus reads of the installation
installation_settings  with which settings the installation runs
notices  what everybody should know who signs in
schema   how OpenAPI describes all of it
operation_permissions  which permission each operation needs
limited_tokens         what tokens of some pools or labels may ask for
operation_check        does each say so?
"""
