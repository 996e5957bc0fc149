"""How does a coordinator hear at once that something else is wanted of its job? It asks and waits.

Its request is held, without a thread and a connection to the database, until the job's row says
something new. The answer says no more than that it should report now; the truth comes with the
answer to that report. So a wake-up that is lost costs no more than the pause between two reports.

waiting     requests of coordinators are held and answered
held_jobs   which jobs' coordinators wait here, and which were woken lately
wake_line   how this process hears of wake-ups, and that it does not
publishing  how whoever changed a job wakes its coordinator, wherever it waits
"""
