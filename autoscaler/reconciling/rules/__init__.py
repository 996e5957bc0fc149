"""What does each rule do about a job? One module for each concern.

starting    a job gets its workers: at first, anew, or others than before
---
ending      a job comes to its end: it is through, it fails, it has to stop
---
failures    workers or nodes fail, are silent or slow
"""
