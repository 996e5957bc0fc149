"""How does each request get into the audit log, and who reads it there?

middleware  what is written about a request, in the transaction of what it changes
senders     who sent it
endpoint    who reads them
query       which ones a request asks for
operations  what it asks for, and whether that changes anything
"""
