/** The job's figures of this moment. */

import type { Generation, JobDetail } from "../../api/types";
import { Stat } from "../../design/Stat";
import { WorkerCells } from "../../design/WorkerCells";
import { useTeamColour } from "../../design/teamColour";
import { workersOnAverage } from "../../domain/changes";
import { describeLostWork, describeStalls } from "../../domain/costs";
import { mainMetric } from "../../domain/curves";
import {
  formatCount,
  formatGpuTime,
  formatMetric,
  humanise,
  NONE,
  plural,
} from "../../domain/format";
import { limitsOfUse } from "../../domain/limitsOfUse";
import { speedOf } from "../../domain/progress";
import { isFinal } from "../../domain/states";
import { Predicted } from "./Predicted";
import styles from "./Facts.module.css";

const NOISE = "At about this batch, a larger one begins to bring less per sample";

interface FactsProps {
  readonly job: JobDetail;
  readonly course: readonly Generation[];
}

export function Facts({ job, course }: FactsProps) {
  const metric = mainMetric(job.values);
  const value = metric === null ? undefined : job.values[metric];
  return (
    <section aria-label="Figures" className={styles.facts}>
      <Workers job={job} course={course} />
      <Stat
        label="Global batch"
        value={job.global_batch_size ? formatCount(job.global_batch_size) : NONE}
        note={<BatchNote job={job} />}
      />
      <Stat label="Speed" {...speedOf(job)} />
      <Stat
        label={humanise(metric ?? "loss")}
        value={formatMetric(typeof value === "number" ? value : null)}
        note="newest"
      />
      <Stat
        label="Generation"
        value={job.generation === 0 ? NONE : String(job.generation)}
        note={`attempt ${job.attempt}, ${plural(job.failures, "failure")}`}
      />
      <Stat label="Rescales" value={String(job.rescales)} note={<Costs job={job} />} />
      <Predicted job={job} />
      <Stat label="GPU time" value={formatGpuTime(job.gpu_seconds)} note={<Limits job={job} />} />
    </section>
  );
}

/** Of a job that has not begun there is only what it asked for, and when it may begin. */
export function Asked({ job }: { readonly job: JobDetail }) {
  const { min_workers: least, max_workers: most } = job;
  return (
    <section aria-label="Figures" className={styles.facts}>
      <Stat
        label="Asks for"
        value={least === most ? plural(most, "worker") : `${least} to ${plural(most, "worker")}`}
        note={`pool ${job.pool}`}
      />
      <Stat
        label="Global batch"
        value={job.global_batch_size ? formatCount(job.global_batch_size) : NONE}
        note={<BatchNote job={job} />}
      />
      {job.failures > 0 && (
        <Stat label="Failures" value={String(job.failures)} note={`attempt ${job.attempt}`} />
      )}
      <Predicted job={job} />
      {job.gpu_seconds > 0 && (
        <Stat label="GPU time" value={formatGpuTime(job.gpu_seconds)} note={<Limits job={job} />} />
      )}
    </section>
  );
}

/** Those of now while it lives; on average over all its training once it has ended. */
function Workers({ job, course }: FactsProps) {
  const colour = useTeamColour()(job.team);
  const range = `use ${job.min_workers} to ${job.max_workers}`;
  if (!isFinal(job.state)) {
    return (
      <Stat
        label="Workers"
        value={<WorkerCells job={job} colour={colour} />}
        note={`may ${range}`}
      />
    );
  }
  const mean = workersOnAverage(course);
  const value = mean === null ? NONE : formatMetric(mean);
  return <Stat label="Workers" value={value} note={`on average, might ${range}`} />;
}

/** What its spec lets it use up stands beside what it has used, or else its pool. */
function Limits({ job }: { readonly job: JobDetail }) {
  const limits = limitsOfUse(job);
  return (
    <div>
      {limits.length === 0 && `pool ${job.pool}`}
      {limits.map(({ words, isNear }) => (
        <p key={words} className={isNear ? styles.warning : undefined}>
          {words}
        </p>
      ))}
    </div>
  );
}

function Costs({ job }: { readonly job: JobDetail }) {
  const lostWork = describeLostWork(job);
  return (
    <div>
      {describeStalls(job)}
      {lostWork !== "" && <p className={styles.warning}>{lostWork}</p>}
    </div>
  );
}

/** What the runtime found out about the batch stands beside it, once it has. */
function BatchNote({ job }: { readonly job: JobDetail }) {
  return (
    <div>
      mode {job.mode}
      {job.noise_scale !== null && (
        <p title={job.batch_worth?.message ?? NOISE}>
          gradient noise {formatCount(Math.round(job.noise_scale))}
        </p>
      )}
      {job.batch_limit !== null && <p>at most {formatCount(job.batch_limit)} a worker at once</p>}
    </div>
  );
}
