"""Which workload does this recording hold? Pure functions from text to traces; callers open files.

`concertina_json` and `concertina_csv` read and write our own format, `philly` and `pollux` read
others', `history` turns rows of our own database into a trace. See docs/traces.md.
"""
