/** Everything that happened to the job, newest first. */

import { useEvents } from "../../api/jobs";
import type { Job } from "../../api/types";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import { Problem } from "../../design/Problem";
import { SkeletonRows } from "../../design/Skeleton";
import { RelativeTime } from "../../design/Time";
import { happeningsOf, type Happening } from "../../domain/events";
import { reasonLabel } from "../../domain/reasons";
import { isFinal } from "../../domain/states";
import { clockTime, milliseconds } from "../../domain/time";
import styles from "./Events.module.css";

export function Events({ job }: { readonly job: Job }) {
  const events = useEvents(job.id, !isFinal(job.state));
  return (
    <Card title="Events" isFlush>
      {events.isPending && <SkeletonRows rows={4} height={32} />}
      {events.isLoadingError && (
        <Problem error={events.error} onRetry={() => void events.refetch()} />
      )}
      {events.data?.items.length === 0 && <EmptyState title="Nothing has happened yet" />}
      <ol className={styles.events} aria-label="Events, newest first" tabIndex={0}>
        {happeningsOf(events.data?.items ?? []).map((happening) => (
          <Row key={happening.first.id} happening={happening} />
        ))}
      </ol>
    </Card>
  );
}

function Row({ happening: { first: event, title } }: { readonly happening: Happening }) {
  return (
    <li className={styles.event}>
      <p className={styles.head}>
        <strong>{title}</strong>
        {event.reason !== "" && <span>{reasonLabel(event.reason)}</span>}
        <span className={styles.when}>
          {clockTime(milliseconds(event.at))}, <RelativeTime at={event.at} />
        </span>
      </p>
      {event.message !== "" && <p className={styles.message}>{event.message}</p>}
    </li>
  );
}
