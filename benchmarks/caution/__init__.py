"""What does it cost to plan by measurements and with caution, beside an oracle? See `__main__`.

rows       what is known, what is true, and which rule of changes holds in a line of the table
rules      parts of the planner's rule of changes, switched off
replays    all replays of a table, several at a time
truths     jobs whose speed no throughput model describes
before     the same in the code of an earlier commit
figures    what is printed of a row
"""
