"""What did a job leave behind, and how does it come here?

job_results  what can be asked of one job's results
downloading  a file of any size, which goes on where a connection broke
curves       its progress over time, in forms that other programs read
unpacking    a stream becomes a folder, whole or not at all
"""
