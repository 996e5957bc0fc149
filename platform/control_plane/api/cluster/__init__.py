"""How is the cluster, and how is it used?

usage              sums over all teams, for everybody
pools              what is in each pool, and who holds which GPU
policies           which policies a pool may have
gpus               how busy each GPU in use is
nodes              nodes, and how an admin takes one out of service
leaving            whom it hits if a node is taken out of service
prefetched_images  which images are fetched before any job names them
"""
