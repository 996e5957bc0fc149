"""How is one folder of one commit fetched? By a program of its own, confined as those of data are.

It speaks git over https by a library, not by git's own program: so the guard sees each connection,
and there are no hooks, no submodules, no other protocols and no settings of the machine.

__main__  reads the order, and does it
---
cloning   a commit comes, without its history
packing   a folder of it becomes an archive
---
orders    what there is to do, and what came of it
"""
