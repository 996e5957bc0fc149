/** What stands in one cell of the table of jobs? */

import { Link } from "react-router";

import type { Job } from "../../api/types";
import { StateBadge } from "../../design/Badge";
import { useNow } from "../../design/now";
import {
  formatDuration,
  formatGpuTime,
  formatMetric,
  formatPercent,
  NONE,
} from "../../domain/format";
import { labelsOf, metricOf } from "../../domain/jobColumns";
import { withLabel, type JobFilter } from "../../domain/jobFilter";
import { reasonLabel } from "../../domain/reasons";
import { isFinal } from "../../domain/states";
import { absoluteTime, milliseconds, momentInList } from "../../domain/time";
import styles from "./JobTable.module.css";

export interface CellContext {
  readonly job: Job;
  readonly colourOf: (team: string) => string;
  /** Narrow the list to jobs that have this in common with this one. */
  readonly narrow: (narrowed: (filter: JobFilter) => JobFilter) => void;
}

export function JobCell({ column, ...context }: CellContext & { readonly column: string }) {
  const { job, narrow } = context;
  switch (column) {
    case "name":
      return (
        <Link to={`/jobs/${job.id}`} className={styles.name} title={job.name} data-part="name">
          {job.name}
        </Link>
      );
    case "state":
      return <StateBadge state={job.state} />;
    case "team":
      return <TeamCell {...context} />;
    case "person":
      return (
        <Narrowing
          text={job.submitted_by}
          onClick={() => {
            narrow((filter) => ({ ...filter, user: job.submitted_by }));
          }}
        />
      );
    case "labels":
      return labelsOf(job.labels).map((label) => (
        <Narrowing
          key={label}
          text={label}
          isChip
          onClick={() => {
            narrow((filter) => withLabel(filter, label));
          }}
        />
      ));
    case "submitted":
      return <Moment at={job.submitted_at} />;
    case "started":
      return <Moment at={job.started_at} />;
    case "ended":
      return <Moment at={job.finished_at} />;
    case "message":
      return <span title={job.message}>{outcomeOf(job)}</span>;
    default:
      return numberOf(job, column);
  }
}

function numberOf(job: Job, column: string): string {
  switch (column) {
    case "pool":
      return job.pool;
    case "took":
      return formatDuration(job.completion_seconds);
    case "gpu-time":
      return formatGpuTime(job.gpu_seconds);
    case "workers":
      return isFinal(job.state) ? NONE : `${String(job.workers)} of ${String(job.max_workers)}`;
    case "progress":
      return formatPercent(job.progress);
    case "metric": {
      const metric = metricOf(job.values);
      return metric === null ? NONE : `${metric.name} ${formatMetric(metric.value)}`;
    }
    case "rescales":
      return String(job.rescales);
    case "stall":
      return formatDuration(job.stall_seconds);
    case "priority":
      return String(job.priority);
    default:
      return job.id;
  }
}

function outcomeOf(job: Job): string {
  const reason = reasonLabel(job.reason);
  return isFinal(job.state) || job.message.startsWith(reason)
    ? job.message
    : `${reason}. ${job.message}`;
}

function TeamCell({ job, colourOf, narrow }: CellContext) {
  return (
    <>
      <span className={styles.mark} style={{ background: colourOf(job.team) }} aria-hidden="true" />
      <Narrowing
        text={job.team}
        onClick={() => {
          narrow((filter) => ({ ...filter, team: job.team }));
        }}
      />
    </>
  );
}

interface NarrowingProps {
  readonly text: string;
  readonly isChip?: boolean;
  readonly onClick: () => void;
}

/** A short cut for the mouse: the fields above do the same, so the keyboard need not stop here. */
function Narrowing({ text, isChip = false, onClick }: NarrowingProps) {
  return (
    <button
      type="button"
      tabIndex={-1}
      className={styles.narrowing}
      data-chip={isChip}
      title={`Only ${text}`}
      onClick={onClick}
    >
      {text}
    </button>
  );
}

function Moment({ at }: { readonly at: string | null }) {
  const now = useNow();
  if (at === null) return NONE;
  const moment = milliseconds(at);
  return (
    <time dateTime={at} title={absoluteTime(moment)}>
      {momentInList(moment, now)}
    </time>
  );
}
