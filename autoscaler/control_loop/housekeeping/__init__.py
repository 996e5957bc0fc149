"""What has to be done that no job waits for? A little in each tick, and the rest in later ones.

orphans             stops processes that belong to nobody
homes               removes homes of users of teams that have no workers
folders             removes what nobody needs any more on the disk that jobs share
retention           forgets old ticks
prefetched_images   fetches images before any job names them
gpu_discovery       asks nodes which GPUs they have
machine_discovery   asks nodes what their machines are like
node_questions      asks them in threads, so that no tick waits
usage_watch         reads what workers take of their nodes, and tells which jobs are idle
disk_watch          measures how much each job has on disk
team_disks          sums what all jobs of a team have there
disk_lane           looks into many folders with a few threads
"""
