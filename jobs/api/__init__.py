"""What are the REST endpoints about jobs?

collection      all jobs: list, submit, check a spec
single          one job: read it, steer it, read its histories
comparison      a few jobs side by side
explain         why a job waits, or has the workers it has
relations       for whom a job waits, and who waits for it; arrays of jobs as a whole
sync            where a job's coordinator reports
urls            which address leads where
requests        what a request may say
json_types      is each value of a body of the type that is described?
spec_schema     how OpenAPI describes a job spec
serializers     what the answers look like
representation  a job as a document, by the one serializer of its kind
"""
