"""What stands before Django in `api`, so that nobody's requests keep others from an answer?

wiring       what stands before Django here, with which bounds
---
bodies       is a request's body here, whole, and small enough?
rates        has its sender asked too often?
counted_jobs and the jobs of a bulk?
coordinators what do coordinators of jobs ask, and for which moment do they wait?
proxies      what do proxies say of a request, and from whom is it believed?
only_http    requests for WebSockets are refused
principal    whom Django took for the sender
---
threads      which thread answers a request, and who waits for one
---
connections  may one more connection stay?
callers      who sends a request, as far as that is known so early
refusal      how a request is refused before Django saw it
asgi_types   what an ASGI application looks like to a type checker
"""
