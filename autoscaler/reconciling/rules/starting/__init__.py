"""How does a job get its workers? At first, anew, or others than before.

launching       starts the processes that should run and do not
preparing       tells while something is made ready to run, an image, say
joining         goes on without workers that do not arrive
mode            runs a script that does not register as a plain one
restart_mode    ends all workers of a plain script before the next set starts
refusals        gives up what can never run, or is always killed
"""
