"""What is known of a process, whoever died meanwhile?

`records` has a folder for each; `identity` tells whether a pid is still the same process;
`environments` is what it carries and shows, and by that `leftovers` finds those without a record.
"""
