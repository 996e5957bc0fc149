"""How does somebody run a command beside a worker over REST? One answer brings what it writes.

endpoint   opening a shell, and what is typed into it
opening    who may have one, beside which worker
stream     what the command writes, as server-sent events, until its end
"""
