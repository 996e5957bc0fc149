"""How does the client reach the service?

- `credentials`: which service, and as whom
- `contexts`: which installations are known here, and which of them is meant
- `transport`: one request, and what a bad answer becomes
- `retrying`: when a failed request is tried again, and for how long
- `connection`: what those are given who ask for one kind of thing
- `team`: what is asked about teams
- `questions`: what else is asked that has methods of its own
- `job_filters`: which jobs of a list are asked for
- `paging`: a long list, page by page
- `uploading`: code or data in pieces
- `log_following`: a log over broken connections, without missing or repeating a line
"""
