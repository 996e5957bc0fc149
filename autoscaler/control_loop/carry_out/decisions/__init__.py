"""How is each decision of a plan carried out? One module for each kind.

whole_plan      in which order: who gives first, who takes afterwards
start           a waiting job gets its workers
rescale         a running job gets other workers, or another global batch
pause           a running job gives everything back and waits again
drop            a new job that does not fit is refused for good
other_pool      to which other of its pools a waiting job goes
needs           what starts and changes have to know, read once for all
explain         every decision, and why, stands on its job
"""
