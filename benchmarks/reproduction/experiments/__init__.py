"""What is compared, and which claims are judged?

- `founding_paper`: does the result of the founding paper hold?
- `resource_elasticity`: do the heuristics of that paper save time?
- `all_policies`: is `completion_time` the better objective?
- `deadlines`: are deadlines met?
- `sensitivity`: how much do the results depend on what was assumed?
- `later_schedulers`: the objectives of later schedulers, as policies of this planner
"""
