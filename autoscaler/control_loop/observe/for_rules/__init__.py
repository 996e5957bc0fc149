"""How does one job stand, as values that rules can be applied to?

rest            which jobs need not be looked at
answers         looks up what a rule asks for, because it costs too much to know it of each job
snapshots       makes a `JobSnapshot` of a job's rows and processes, without a statement
memory_limits   how much memory a worker may have
"""
