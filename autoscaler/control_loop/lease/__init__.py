"""Who may write and order now? One process at a time, and never one that has been overtaken.

orders          who may order something of nodes and disks
epochs          whether an older database was put in place of the one that ordered last
---
exclusive       who may write: the lease, and the fence that each transaction looks at
---
session_lock    who alone may do something, as long as their session with the database lasts
"""
