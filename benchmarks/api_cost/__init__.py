"""What do requests of people and programs cost the service and PostgreSQL?

reading       what a read costs
finding       what it costs to find one job of 100,000
usage         what it costs to read who used a year of GPU time
telling       how many messages webhooks get
submitting    jobs one by one and in bulk
own_database  runs Django over a database of its own, and measures
"""
