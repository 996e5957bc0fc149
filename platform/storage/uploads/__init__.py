"""How does something large come in, and go again? In pieces that may be repeated, whole or not.

pieces    one upload: what comes, in which order, until it is complete
contents  how much is in what came
closed    folders that nobody writes to any more
paths     which folder of the service's state holds what
unused    what nobody refers to goes, and so does what nobody goes on with

`storage.code` and `storage.data.uploaded` say what is uploaded, and when it is complete.
"""
