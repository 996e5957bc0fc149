"""What do the curves of a job say?

points  how it went over time, in a bounded number of points
sparklines  many jobs at once, in a line each
tables  all points that are kept, as a file
comparison  one curve of each of a few jobs, over steps, samples, time or GPU-hours
stored  where points are found; of_many  where those of many jobs are
usage   what its workers took
speeds  how fast it trained in each of its generations
"""
