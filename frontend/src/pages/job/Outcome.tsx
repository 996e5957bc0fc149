/** How the job ended; no plan concerns it any more. */

import type { Job } from "../../api/types";
import { Card } from "../../design/Card";
import { RelativeTime } from "../../design/Time";
import { formatDuration } from "../../domain/format";
import { reasonLabel } from "../../domain/reasons";
import { toneOf } from "../../domain/states";
import styles from "./Outcome.module.css";

export function Outcome({ job }: { readonly job: Job }) {
  return (
    <Card title="Outcome" note={job.finished_at !== null && <RelativeTime at={job.finished_at} />}>
      <p className={styles.outcome} data-tone={toneOf(job.state)}>
        {sentenceOf(job)}
      </p>
      {job.state !== "completed" && <p className={styles.reason}>{reasonLabel(job.reason)}</p>}
      {job.message !== "" && <p className={styles.message}>{job.message}</p>}
    </Card>
  );
}

function sentenceOf(job: Job): string {
  const word = job.state.charAt(0).toUpperCase() + job.state.slice(1);
  return `${word} after ${formatDuration(job.completion_seconds)}`;
}
