/** Everything that happened to the job, newest first. */

import { useEvents } from "../../api/jobs";
import type { Job, JobEvent } from "../../api/types";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import { Problem } from "../../design/Problem";
import { SkeletonRows } from "../../design/Skeleton";
import { RelativeTime } from "../../design/Time";
import { eventLabel, reasonLabel } from "../../domain/reasons";
import { isFinal } from "../../domain/states";
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
        {events.data?.items.toReversed().map((event) => (
          <Row key={event.id} event={event} />
        ))}
      </ol>
    </Card>
  );
}

function Row({ event }: { readonly event: JobEvent }) {
  return (
    <li className={styles.event}>
      <p className={styles.head}>
        <strong>{titleOf(event)}</strong>
        {event.reason !== "" && <span>{reasonLabel(event.reason)}</span>}
        <span className={styles.when}>
          <RelativeTime at={event.at} />
        </span>
      </p>
      {event.message !== "" && <p className={styles.message}>{event.message}</p>}
    </li>
  );
}

function titleOf(event: JobEvent): string {
  if (event.new_state === "") return eventLabel(event.kind);
  return event.old_state === "" ? event.new_state : `${event.old_state} → ${event.new_state}`;
}
