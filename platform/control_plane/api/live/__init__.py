"""How does an open page stay live? What it reads is sent to it again whenever that has changed.

endpoint     the endpoint itself
reads        which reads can be live, and how one is read for several viewers
topics       who looks at which read: it is read once for all who may see the same
stream       what one viewer looks at, as server-sent events
compression  how such an event is compressed once for all who look
"""
