"""How far are scripts that keep their own loop? Read from what they write, in the background.

    reading        looks at the files of jobs that run, now and then
    ---
    sources        what was written since the last look
    ---
    pace           what the told steps say of a job's progress and speed
    ---
    report_lines   what one line tells

Each imports only from those below it.
"""
