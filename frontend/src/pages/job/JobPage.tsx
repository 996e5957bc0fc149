/** What does one job do, why, and how did it come to this? */

import type { ReactNode } from "react";
import { useParams } from "react-router";

import { isNotFound } from "../../api/errors";
import { useGenerations, useJob } from "../../api/jobs";
import { NotFoundPage } from "../../app/NotFoundPage";
import { Problem } from "../../design/Problem";
import { Skeleton } from "../../design/Skeleton";
import { rangeWarnings } from "../../domain/batches";
import { changesOf } from "../../domain/changes";
import { hasBegun } from "../../domain/progress";
import { isFinal } from "../../domain/states";
import { Curves } from "./Curves";
import { Dependencies } from "./Dependencies";
import { Events } from "./Events";
import { Explain } from "./Explain";
import { Asked, Facts } from "./Facts";
import { Header } from "./Header";
import { Logs } from "./Logs";
import { SizeAdvice } from "./SizeAdvice";
import { Timeline } from "./Timeline";
import { Usage } from "./Usage";
import { Warnings } from "./Warnings";
import { Workers } from "./Workers";
import { Checkpoints } from "./results/Checkpoints";
import { Outputs } from "./results/Outputs";
import styles from "./JobPage.module.css";

export default function JobPage() {
  const { id = "" } = useParams();
  // A new address is a new page: filters and streams of the old job must not stay.
  return <JobContent key={id} id={id} />;
}

function JobContent({ id }: { readonly id: string }) {
  const job = useJob(id);
  const isLive = job.data === undefined || !isFinal(job.data.state);
  const generations = useGenerations(id, isLive);
  if (isNotFound(job.error)) return <NotFoundPage what="job" />;
  if (job.data === undefined) {
    return job.isLoadingError ? (
      <Problem error={job.error} onRetry={() => void job.refetch()} />
    ) : (
      <PageSkeleton />
    );
  }
  const course = generations.data?.items ?? [];
  const changes = changesOf(course);
  return (
    <div className={styles.page}>
      <title>{`${job.data.name} · Concertina`}</title>
      <Header job={job.data} />
      <Warnings title="Look at its script" warnings={job.data.warnings} />
      <Warnings title="Look at its range of batches" warnings={rangeWarnings(job.data)} />
      <Dependencies job={job.data} />
      {hasBegun(job.data) ? (
        <>
          <div className={styles.course}>
            <Part name="why">
              <Explain job={job.data} />
            </Part>
            <Part name="facts">
              <Facts job={job.data} course={course} />
            </Part>
            <Part name="timeline">
              <Timeline job={job.data} generations={generations} />
            </Part>
            <Part name="workers">
              <Workers job={job.data} />
            </Part>
          </div>
          <SizeAdvice job={job.data} />
          <Curves job={job.data} changes={changes} />
          <Usage job={job.data} changes={changes} />
          <Checkpoints job={job.data} />
          <Outputs job={job.data} />
          <Logs job={job.data} />
        </>
      ) : (
        <>
          <Explain job={job.data} />
          <Asked job={job.data} />
          {job.data.started_at !== null && (
            <>
              <Logs job={job.data} />
              <Usage job={job.data} changes={changes} />
              <Checkpoints job={job.data} />
              <Outputs job={job.data} />
            </>
          )}
        </>
      )}
      <Events job={job.data} />
    </div>
  );
}

/** A part of the picture of its course; where there is room, parts stand beside each other. */
function Part({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className={styles.part} style={{ "--part": name }}>
      {children}
    </div>
  );
}

function PageSkeleton() {
  return (
    <div className={styles.page} role="status" aria-label="Loading the job">
      <Skeleton height={88} />
      <Skeleton height={84} />
      <Skeleton height={420} />
      <Skeleton height={280} />
    </div>
  );
}
