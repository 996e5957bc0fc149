"""How many workers and which batch does each job get, and how is that made so?

control_loop        the loop: observes, reconciles, plans, checks and carries out
predictions         when live jobs start and finish
restart_costs       what changes cost that nobody reports
size_advice         how many workers would have been right for a job
script_reports      how far scripts are that keep their own loop
gpu_accounts        who used, lent and borrowed how much GPU time
simulation          what would have happened, with another policy, other nodes or jobs
---
reconciling         what has to be done for a job, whatever the plan says: pure
---
planning            how many GPUs each job gets, and why: pure
installed_policies  which policies this installation has
plots               charts of reports, as SVG text
---
backoff             how long it is until something that failed is tried again
coded_words         what a code and the sentence that explains it are
job_network         which networks a job can have
job_vocabulary      every kind of event and every reason, with its sentence
team_budget         how a team stands with its GPU-hours of a month
"""
