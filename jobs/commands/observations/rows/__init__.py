"""Which rows does a report write? Those of all reports that go together, in one statement.

one_statement  how rows of several tables are written at once
---
metrics        points of progress
measurements   how long steps took
workers        what a coordinator sees of its workers
"""
