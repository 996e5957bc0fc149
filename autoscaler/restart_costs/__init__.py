"""What did changes cost that nobody reports? Told from the logs, in the background.

    measuring        looks at the logs of jobs that were restarted, now and then
    ---
    restart_cost     what one restart cost, in numbers and in words
    ---
    repeated_work    how much of its work a script made again
    ---
    progress         how far the lines of one shape got
    ---
    numbered_lines   which step, iteration or epoch a line tells of

Each imports only from those below it.
"""
