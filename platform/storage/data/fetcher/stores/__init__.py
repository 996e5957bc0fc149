"""What is there in a store, and what are the bytes of it? One module for each kind of store.

Stores are read through the connections that well-kept clients hold, so that a request can say which
version it means, and what comes need not fit into memory.

opening    the store at a URL
---
azure      Azure Blob Storage, through Microsoft's client
google     Google Cloud Storage, through `gcsfs`
s3         S3 and what speaks it, through `s3fs`
web        files of a web server, through fsspec
---
below      which objects of a bucket a URL means
answers    what a store's refusals and failures mean for a fetch
port       what all of them offer
"""
