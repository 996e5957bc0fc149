"""Who uses the service while it is measured?

- `population`: people whose jobs come and go
- `real_jobs`: two whose jobs are real
- `audience`: somebody who looks at everything
- `requests`: what they ask, and what it took
"""
