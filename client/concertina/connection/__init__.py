"""How does the client reach the service?

- `credentials`: which service, and as whom
- `contexts`: which installations are known here, and which of them is meant
- `transport`, `async_transport`: one request, by who waits for the answer and by who awaits it
- `answers`: what an answer means; `http_library`: what speaks HTTP
- `senders`: operations of the API as values, sent again for a while
- `retrying`: when a failed request is tried again, and for how long
- `connection`: what those are given who ask for one kind of thing
- `team`: what is asked about teams
- `questions`: what else is asked that has methods of its own
- `job_filters`: which jobs of a list are asked for
- `paging`: a long list, page by page
- `shells`: a command beside a worker
- `talks`: what takes several requests, written once for both
"""
