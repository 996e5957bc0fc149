"""Who did what, with which key, from where, and what was it before? A log that only grows.

reading     entries, the newest first, for whoever may see them
writing     one statement for each entry
kinds       which requests that were not carried out are counted together
forgetting  what becomes of old entries
values      what an entry says of values: not too much, and no secret
admin_changes  what a form of the administration changed
signing     who has just signed in or out
records     what becomes known of a request while it is answered
"""
