/** A job's workers: filled ones train, empty ones are how far it may still grow. */

import type { Job } from "../api/types";
import { Cells, type Cell } from "./Cells";
import styles from "./WorkerCells.module.css";

interface WorkerCellsProps {
  readonly job: Pick<Job, "workers" | "workers_desired" | "min_workers" | "max_workers">;
  readonly colour: string;
}

/** More cells than this would break the row; the number stands beside them anyway. */
const MOST_CELLS = 8;

export function WorkerCells({ job, colour }: WorkerCellsProps) {
  const label = `${job.workers} of at most ${job.max_workers} workers`;
  return (
    <span className={styles.workers}>
      <strong>{job.workers}</strong>
      {job.workers !== job.workers_desired && (
        <span className={styles.desired}>→ {job.workers_desired}</span>
      )}
      {job.max_workers <= MOST_CELLS ? (
        <Cells cells={cellsOf(job.workers, job.max_workers, colour)} label={label} />
      ) : (
        <span className={styles.range}>of {job.max_workers}</span>
      )}
    </span>
  );
}

function cellsOf(workers: number, most: number, colour: string): Cell[] {
  return Array.from({ length: Math.max(workers, most) }, (_, index) => ({
    colour: index < workers ? colour : null,
    title: index < workers ? "trains" : "could grow",
  }));
}
