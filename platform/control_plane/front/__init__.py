"""What stands before Django in `api`, so that nobody's requests keep the others' from an answer.

A request passes, in this order, `rates` (is its sender within bounds?), `bodies` (is it here, and
small enough?) and `lanes` (is a thread free, or soon?). A refusal costs no thread and no statement.
"""
