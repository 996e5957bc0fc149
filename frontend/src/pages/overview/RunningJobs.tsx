/** The jobs that hold GPUs now, with their live progress. */

import { useJobs, useSparklines } from "../../api/jobs";
import { useSeesAll } from "../../api/session";
import { Card } from "../../design/Card";
import { Command } from "../../design/Command";
import { EmptyState } from "../../design/EmptyState";
import { Problem } from "../../design/Problem";
import { SkeletonRows } from "../../design/Skeleton";
import { countOfJobs } from "../../domain/jobCounts";
import { ACTIVE } from "../../domain/states";
import { RunningJob } from "./RunningJob";
import styles from "./RunningJobs.module.css";

const LIMIT = 100;
const POINTS = 60;

export function RunningJobs({ team }: { readonly team?: string }) {
  const jobs = useJobs(ACTIVE, LIMIT, { team });
  const items = jobs.data?.items ?? [];
  const seesAll = useSeesAll() || team !== undefined;
  const hasMore = jobs.data?.next_cursor != null;
  const sparklines = useSparklines(ACTIVE, LIMIT, POINTS, team).data?.items ?? [];
  const courses = new Map(sparklines.map((sparkline) => [sparkline.job_id, sparkline]));
  return (
    <Card
      title="Running"
      note={jobs.data && countOfJobs({ jobs: items, hasMore, seesAll })}
      isFlush
    >
      {jobs.isPending && <SkeletonRows rows={3} height={68} />}
      {jobs.isLoadingError && <Problem error={jobs.error} onRetry={() => void jobs.refetch()} />}
      {jobs.data !== undefined && items.length === 0 && (
        <EmptyState title={seesAll ? "Nothing is training" : "Nothing of your teams is training"}>
          <p>Submit a job and it starts here within seconds:</p>
          <Command text="concertina submit -f job.yaml" />
        </EmptyState>
      )}
      <ul className={styles.list} aria-label="Running jobs">
        {items.map((job) => (
          <RunningJob key={job.id} job={job} course={courses.get(job.id)} />
        ))}
      </ul>
    </Card>
  );
}
