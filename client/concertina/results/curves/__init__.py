"""How does a job's curve come here, and in which forms?

curve_files  as CSV or JSON, as the service sends it, or as Parquet
event_files  as what TensorBoard reads, for as long as the job trains
"""
