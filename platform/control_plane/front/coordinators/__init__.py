"""What do coordinators of jobs ask? It is answered without Django's way through its middleware.

They report; and they ask for the moment at which something else is wanted of their job. That
request is held, without a thread and a connection to the database, until the job's row says
something new. Its answer says no more than that the coordinator should report now; the truth comes
with the answer to that report. So a wake-up that is lost costs no more than the pause between two
reports.

reports           reports are answered without Django
batches           those that come at the same time are stored together
pace              the more jobs there are, the later the next report is due
waiting           requests that wait are held and answered
held_jobs         which jobs' coordinators wait here, and which were woken lately
expected_reports  reports of those that were woken go first
wake_line         how this process hears of wake-ups, and that it does not
publishing        how whoever changed a job wakes its coordinator, wherever it waits
"""
