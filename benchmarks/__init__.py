"""How fast, how exact and how costly is Concertina? Each module or package here is one measurement.

Of planning (`make benchmark`):

- `throughput_fit`: how well a job's speed is predicted
- `optimizer`: how fast the exact optimizer is
- `decision_time`: how long one decision takes
- `simulation_speed`: how fast a replay is
- `quota_preview`: how long a preview of quotas takes
- `caution`: how much longer jobs take because their speed has to be measured
- `prediction_calibration`: how often outcomes fall into the predicted ranges
- `prediction_cost`: what a prediction costs, by the number of jobs
- `final_size`: how soon a job has its size
- `reproduction`: the experiments of papers (`make reproduce`)

Of training:

- `overhead`: what the elastic runtime costs in each step
- `rescale_stall`, `loading_stall`, `checkpoint_stall`: for how long training stands still
- `accuracy`: does training come out the same with other batches and workers?
- `false_alarms`: how often a worker is called a straggler that is none

Of the service:

- `first_step`, `container_first_step`: how long it takes from submit to the first step
- `container_overhead`: what the platform costs a training in a container
- `hostile_tenant`: what a hostile tenant costs the other team
- `service_load`: what a thousand running jobs cost
- `tick_cost`: what a tick costs, and which part of it
- `api_cost`: what requests of people and programs cost
- `jobs_page`: whether very many jobs stay fluid in a browser
- `command_line`: how much processor time commands take before one sees a word
- `reporting`: what the reports of very many jobs cost, and how soon an overload is over
- `node_sampling`: what it costs to read what workers take of a node
- `ray_host`: what a Ray cluster costs a process, beside the same machine without Ray
- `data_fetch`: how fast data comes in that is fetched for jobs
- `job_files`: how long code that is sent and outputs that are listed keep people waiting

`python -m benchmarks.in_turns OTHER NAME` runs one here and in another checkout, in turns, and
puts the figures side by side.
"""
