"""How does an admin read and write what is set up, whole or one object at a time?

documents  what a set-up looks like in JSON, with the bounds of each field
fields     kinds of fields that refuse names nobody knows
answers    what a change is answered with
single     one object: made, changed, removed
endpoint   the whole set-up: export, preview, apply
"""
