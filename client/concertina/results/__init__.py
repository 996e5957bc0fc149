"""What did jobs leave behind, and how does it come here?

job_results  what can be asked of one job's results
job_checkpoints  the same of its checkpoints
weights      weights as a file that is opened without Concertina; torch_file: as PyTorch's own
models       what can be asked of the models of a team
downloading  a file of any size, which goes on where a connection broke
curves       its progress over time, in forms that other programs read
unpacking    a stream becomes a folder, whole or not at all
"""
