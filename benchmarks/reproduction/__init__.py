"""The experiments behind docs/reproduction.md; `make reproduce` runs them all.

- `experiments`: what is compared, and which claims are judged
- `workloads`, `scale`: which jobs come, and how much of it is simulated
- `lab`, `store`: where the numbers come from, and which of them are there already
- `page`, `document`: how numbers become the page
"""
