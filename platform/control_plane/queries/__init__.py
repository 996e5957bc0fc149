"""What can be asked that needs several applications at once?

pool_shares         how much of a pool each team has, as things are now
sharing_arithmetic  what of a pool is a team's own, fair, borrowed or lent: pure
planning_status     are plans applied, and if not, since when?
pool_capacities     how large a job may be in each pool
largest_on_disk     which jobs of a team keep most
ticks               what the autoscaler did, and what a GPU was worth
visibility          whose numbers a caller is shown
webhook_reach       where webhooks may be called
look_ahead          what would become of a job that somebody thinks of submitting
notices             what everybody should know who signs in
"""
