/** Small, complete documents of the api for tests; each test states only what it is about. */

import type {
  Generation,
  Job,
  LogLine,
  MetricPoint,
  TeamStanding,
  Utilisation,
  Worker,
} from "../api/types";

const START = Date.parse("2026-11-21T14:00:00Z");

/** The moment `seconds` after the start of every test. */
export function at(seconds: number): string {
  return new Date(START + seconds * 1000).toISOString();
}

export function aGeneration(number: number, given: Partial<Generation> = {}): Generation {
  return {
    number,
    attempt: 1,
    revision: number,
    workers: 1,
    worker_ids: [],
    global_batch_size: 64,
    reason: "job_arrived",
    message: "",
    began_at: at(0),
    ended_at: null,
    step: 0,
    stall_seconds: 0,
    idle_seconds: 0,
    transfer_seconds: 0,
    lost_steps: 0,
    lost_work_seconds: 0,
    lost_worker_ids: [],
    restart: null,
    predicted_gain: null,
    predicted_stall_seconds: null,
    measured_gain: null,
    decision: {},
    ...given,
  };
}

export function aPoint(seconds: number, values: Record<string, number | null>): MetricPoint {
  return {
    at: at(seconds),
    generation: 1,
    step: seconds,
    epoch: 0,
    samples: 0,
    samples_per_second: 100,
    step_seconds: 0.1,
    compute_seconds: 0.08,
    communication_seconds: 0.02,
    learning_rate: 0.001,
    workers: 1,
    global_batch_size: 64,
    values,
  };
}

export function aLine(seconds: number, text: string, worker = "k3v9-1-1"): LogLine {
  return { at: at(seconds), worker, stream: "stdout", text };
}

export function aUtilisation(given: Partial<Utilisation> = {}): Utilisation {
  return {
    pool: "default",
    gpus_total: 4,
    teams: [
      { team: "vision", guaranteed: 2 },
      { team: "language", guaranteed: 1 },
    ],
    samples: [
      { at: at(0), used: { vision: 1 }, waiting: {}, guaranteed: { vision: 1 } },
      {
        at: at(5),
        used: { vision: 3, language: 1 },
        waiting: { language: 2 },
        guaranteed: { vision: 2, language: 1 },
      },
    ],
    ...given,
  };
}

export function aTeam(given: Partial<TeamStanding> = {}): TeamStanding {
  return {
    name: "vision",
    parent: null,
    guaranteed: 2,
    limit: null,
    fair_share: 2.5,
    allocated: 3,
    borrowed: 1,
    lent: 0,
    waiting: 0,
    running_jobs: 1,
    waiting_jobs: 0,
    is_mine: true,
    ...given,
  };
}

export function aWorker(id: string, given: Partial<Worker> = {}): Worker {
  return {
    id,
    phase: "training",
    node: "node-1",
    gpu_indices: [0],
    attempt: 1,
    created_at: at(0),
    gone_at: null,
    exit_code: null,
    error: "",
    compute_seconds: null,
    samples_per_second: null,
    relative_speed: null,
    is_straggler: false,
    gpu_utilisation: null,
    gpu_memory_bytes: null,
    gpu_memory_total_bytes: null,
    ...given,
  };
}

/** Only what an order of jobs looks at. */
export function aWaitingJob(id: string, seconds: number, state: Job["state"] = "queued"): Job {
  return { id, state, submitted_at: at(seconds) } as Job;
}

/** An ended job, as a list shows it. */
export function aJob(id: string, given: Partial<Job> = {}): Job {
  return {
    id,
    name: `job-${id}`,
    team: "vision",
    pool: "default",
    state: "completed",
    reason: "completed",
    message: "Completed.",
    priority: 50,
    mode: "hot",
    attempt: 1,
    generation: 1,
    failures: 0,
    losses: 0,
    rescales: 2,
    submitted_by: "ada",
    submitted_at: at(0),
    started_at: at(5),
    finished_at: at(65),
    last_rescaled_at: null,
    workers: 0,
    workers_desired: 0,
    min_workers: 1,
    max_workers: 4,
    global_batch_size: 64,
    progress: 1,
    epoch: 3,
    total_epochs: 3,
    step: 300,
    samples: 19_200,
    total_samples: 19_200,
    samples_per_second: 0,
    values: { loss: 0.123 },
    gpu_seconds: 120,
    completion_seconds: 65,
    trained_seconds: 60,
    stall_seconds: 0.2,
    longest_stall_seconds: 0.15,
    lost_work_seconds: 0,
    noise_scale: null,
    batch_limit: null,
    eta_seconds: null,
    prediction: null,
    position: null,
    labels: {},
    array: null,
    trial: null,
    schedule: null,
    ...given,
  };
}
