"""What is submitted when, and how did it go?

`TeamSchedule` is a spec with the times at which it is due, `ScheduleRun` one of these times, or one
at which somebody asked for it.
"""

from schedules.models.run import RunState, ScheduleRun
from schedules.models.schedule import CatchUp, Overlap, TeamSchedule

__all__ = ["CatchUp", "Overlap", "RunState", "ScheduleRun", "TeamSchedule"]
