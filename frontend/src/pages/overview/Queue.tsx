/** The jobs that wait: in which order, since when, and for what. */

import { Link } from "react-router";

import { useJobs } from "../../api/jobs";
import { useSeesAll } from "../../api/session";
import type { Job } from "../../api/types";
import { StateBadge } from "../../design/Badge";
import { Card } from "../../design/Card";
import { Command } from "../../design/Command";
import { EmptyState } from "../../design/EmptyState";
import { Problem } from "../../design/Problem";
import { SkeletonRows } from "../../design/Skeleton";
import { TeamMark } from "../../design/TeamMark";
import { RelativeTime } from "../../design/Time";
import { countInQueue } from "../../domain/jobCounts";
import { reasonLabel } from "../../domain/reasons";
import { inQueueOrder } from "../../domain/queue";
import { WAITING } from "../../domain/states";
import styles from "./JobList.module.css";

const LIMIT = 100;

export function Queue({ team }: { readonly team?: string }) {
  const jobs = useJobs(WAITING, LIMIT, { team });
  const items = jobs.data?.items ?? [];
  const seesAll = useSeesAll() || team !== undefined;
  const hasMore = jobs.data?.next_cursor != null;
  return (
    <Card title="Queue" note={jobs.data && countInQueue({ jobs: items, hasMore, seesAll })} isFlush>
      {jobs.isPending && <SkeletonRows rows={3} height={44} />}
      {jobs.isLoadingError && <Problem error={jobs.error} onRetry={() => void jobs.refetch()} />}
      {jobs.data !== undefined && items.length === 0 && (
        <EmptyState title={seesAll ? "Nobody waits" : "Nobody of your teams waits"}>
          <p>Give a job a range of workers and it starts small instead of waiting:</p>
          <Command text="concertina submit -f job.yaml --wait" />
        </EmptyState>
      )}
      <ol className={styles.list} aria-label="Queue">
        {inQueueOrder(items).map((job) => (
          <QueuedJob key={job.id} job={job} />
        ))}
      </ol>
    </Card>
  );
}

function QueuedJob({ job }: { readonly job: Job }) {
  return (
    <li className={styles.item}>
      <span className={styles.position} title="Place in the queue">
        {job.position ?? "–"}
      </span>
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
            <RelativeTime at={job.submitted_at} />
          </span>
        </p>
        <p className={styles.reason}>
          <strong>{reasonLabel(job.reason)}</strong> {job.message}
        </p>
      </div>
    </li>
  );
}
