"""How is the installation, as Prometheus reads it at `/metrics`?

endpoint     answers whoever may read it
scrapers     who that is: a key of the configuration, or an admin
exposition   readings as Prometheus' text
queue        jobs, GPUs and nodes, by pool and team
loop         what ticks did, and the price of a GPU
deliveries   what webhooks wait for
ledger       GPU time that was used, lent and lost, and gaps in its accounts
families     which metrics there are, and what each means
"""
