"""What do proxies say of a request, and from whom is it believed?

inside    does a request for `/internal/` come from inside?
vouching  does a proxy of ours say who sends a request?
"""
