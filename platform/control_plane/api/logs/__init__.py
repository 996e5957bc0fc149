"""What did a job's workers write? Its log at once, or followed as a stream.

endpoint         the endpoint itself
stream           a followed log as server-sent events
final_jobs       which followed jobs have ended
followed_grants  which tokens and sessions of those who follow are still valid
event_stream     the answer that both that and open pages are
stream_slots     is there room for one more stream?
shared_slots     which slots all processes of `api` hold together
"""
