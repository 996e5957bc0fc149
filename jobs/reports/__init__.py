"""What may a job's own processes report? They are believed only as far as a report makes sense.

sync_report  the documents that a coordinator sends, with bounds
fields       which value may stand in a report
noise_scale  how noisy gradients are, smoothed over reports
job_token    how processes prove which job they belong to
"""
