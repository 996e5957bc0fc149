"""What would have happened? Replays a workload through the planner, on a clock of its own."""
