"""What does a job leave behind, and how is it read while the job may still change it?

folders      which folder of a job holds what
opening      a path below such a folder is opened without following a link
listing      what lies in a folder, page by page
checkpoints  what the runtime wrote to go on from
chosen       which of them somebody means
holding      files that stay under a second name
held         checkpoints that stay so, for jobs that start from them and for models
named        models of teams: held checkpoints under names
archives     a folder as one stream
unwanted     what somebody deleted, until the control loop has removed it
"""
