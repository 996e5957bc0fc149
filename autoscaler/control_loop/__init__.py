"""How do plans become real? Observe, reconcile, plan, check, carry out, every few seconds.

`tick` tells the story of one pass. Each part imports only from those below it.

    wakeup          what makes a tick come before its time
    tasks           what Celery runs; `wakeup_flag` tells whether a tick is on its way already
    wiring          which parts this installation's loop is made of; the only place that chooses
    tick            one pass of the loop
    ---
    reconcile       applies the rules to all jobs, side by side, until none has anything to do
    arriving        whether what the platform fetches for jobs is there; jobs wait for it
    housekeeping    what no job waits for: leftovers, images ahead, what nodes and disks hold
    machines        which pools ask their cluster for machines, and give some back
    ---
    carry_out       the only writer of what rules and plans say
    ---
    traces          what whoever traces jobs is told of a tick
    ---
    plan            which plan may be applied, and in which words
    ---
    observe         how everything stands: rows and processes as values; changes nothing
    ---
    tick_context    what a tick holds: the processes, the time, the right to write
    outside         processes, and the teams, pools and nodes among which jobs stand
    lease           who may write and order now
    ---
    consistency     whether the database still says what must always hold
    database_timeouts   how long a tick waits for the database
    observation_budget  for how long a tick looks into jobs of which something is new
    models          what the loop remembers: its lease, what each tick did, and all ticks together
"""
