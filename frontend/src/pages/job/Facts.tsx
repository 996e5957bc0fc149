/** The job's figures of this moment. */

import type { Job } from "../../api/types";
import { Stat } from "../../design/Stat";
import { WorkerCells } from "../../design/WorkerCells";
import { useTeamColour } from "../../design/teamColour";
import { mainMetric } from "../../domain/curves";
import {
  formatCount,
  formatDuration,
  formatGpuTime,
  formatMetric,
  humanise,
  NONE,
  plural,
} from "../../domain/format";
import { Foreseen } from "./Foreseen";
import styles from "./Facts.module.css";

export function Facts({ job }: { readonly job: Job }) {
  const colour = useTeamColour()(job.team);
  const metric = mainMetric(job.values);
  const value = metric === null ? undefined : job.values[metric];
  return (
    <section aria-label="Figures" className={styles.facts}>
      <Stat
        label="Workers"
        value={<WorkerCells job={job} colour={colour} />}
        note={`may use ${job.min_workers} to ${job.max_workers}`}
      />
      <Stat
        label="Global batch"
        value={job.global_batch_size ? formatCount(job.global_batch_size) : NONE}
        note={`mode ${job.mode}`}
      />
      <Stat
        label="Speed"
        value={formatCount(Math.round(job.samples_per_second))}
        note="samples/s"
      />
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
      <Stat
        label="Rescales"
        value={String(job.rescales)}
        note={`longest stall ${formatDuration(job.longest_stall_seconds)}`}
      />
      <Foreseen job={job} />
      <Stat label="GPU time" value={formatGpuTime(job.gpu_seconds)} note={`pool ${job.pool}`} />
    </section>
  );
}
