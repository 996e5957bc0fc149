/** The jobs that ended last, and how. */

import { Link } from "react-router";

import { useJobs } from "../../api/jobs";
import type { Job } from "../../api/types";
import { StateBadge } from "../../design/Badge";
import { Card } from "../../design/Card";
import { Command } from "../../design/Command";
import { EmptyState } from "../../design/EmptyState";
import { Problem } from "../../design/Problem";
import { SkeletonRows } from "../../design/Skeleton";
import { TeamMark } from "../../design/TeamMark";
import { RelativeTime } from "../../design/Time";
import { mainMetric } from "../../domain/curves";
import { formatDuration, formatMetric, plural } from "../../domain/format";
import { FINAL } from "../../domain/states";
import styles from "./JobList.module.css";

const LIMIT = 8;

export function FinishedJobs({ team }: { readonly team?: string }) {
  const jobs = useJobs(FINAL, LIMIT, { team, order: "finished" });
  return (
    <Card
      title="Recently finished"
      actions={
        <Link to={team === undefined ? "/jobs" : `/jobs?team=${team}`} className={styles.all}>
          {team === undefined ? "All jobs" : `All jobs of ${team}`}
        </Link>
      }
      isFlush
    >
      {jobs.isPending && <SkeletonRows rows={3} height={44} />}
      {jobs.isLoadingError && <Problem error={jobs.error} onRetry={() => void jobs.refetch()} />}
      {jobs.data?.items.length === 0 && (
        <EmptyState title="Nothing has finished yet">
          <p>Wait for an outcome in a script or in CI:</p>
          <Command text="concertina submit -f job.yaml --wait" />
        </EmptyState>
      )}
      <ul className={styles.list} aria-label="Recently finished jobs">
        {jobs.data?.items.map((job) => (
          <FinishedJob key={job.id} job={job} />
        ))}
      </ul>
    </Card>
  );
}

function FinishedJob({ job }: { readonly job: Job }) {
  return (
    <li className={styles.item}>
      <div className={styles.main}>
        <p className={styles.head}>
          <Link to={`/jobs/${job.id}`} className={styles.name}>
            {job.name}
          </Link>
          <span className={styles.meta}>
            <TeamMark team={job.team} />
          </span>
          <StateBadge state={job.state} />
          <span className={styles.when}>
            {job.finished_at !== null && <RelativeTime at={job.finished_at} />}
          </span>
        </p>
        <p className={styles.reason}>{job.state === "failed" ? job.message : outcome(job)}</p>
      </div>
    </li>
  );
}

function outcome(job: Job): string {
  const metric = mainMetric(job.values);
  const value = metric === null ? undefined : job.values[metric];
  return [
    `took ${formatDuration(job.completion_seconds)}`,
    plural(job.rescales, "rescale"),
    ...(job.rescales > 0 ? [`longest stall ${formatDuration(job.longest_stall_seconds)}`] : []),
    ...(metric !== null && typeof value === "number" ? [`${metric} ${formatMetric(value)}`] : []),
  ].join(" · ");
}
