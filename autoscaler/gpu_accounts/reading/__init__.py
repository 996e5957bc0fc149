"""Who used how much GPU time in some time, by what one likes? Read from the accounts.

usage      reads it, in two statements
receipt    reads what a team was owed and not given
report     reads what goes into the report of a month, and what it costs, exactly
statement  the statement that adds up lines
months     reads what teams used in a month, up to now
question   what is asked for, and what the caller may be told
calendar   which hours, days and months there are in a time zone, and which lines have them
"""
