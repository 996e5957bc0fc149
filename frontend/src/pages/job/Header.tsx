/** Which job this is, how far it is, and what can be done with it. */

import { Link, useNavigate } from "react-router";

import type { JobDetail } from "../../api/types";
import { StateBadge } from "../../design/Badge";
import { Button } from "../../design/Button";
import { ProgressBar } from "../../design/ProgressBar";
import { TeamMark } from "../../design/TeamMark";
import { RelativeTime } from "../../design/Time";
import { useNow } from "../../design/now";
import { useTeamColour } from "../../design/teamColour";
import { dataUses } from "../../domain/data";
import { formatCount, formatDuration, formatMetric } from "../../domain/format";
import { describeTimeLeft } from "../../domain/predictions";
import { progressInWords } from "../../domain/progress";
import { isFinal, isLively } from "../../domain/states";
import { compareAddress } from "../../domain/comparison";
import { ChangeJob } from "./ChangeJob";
import { CodeOrigin } from "./CodeOrigin";
import { JobActions } from "./JobActions";
import { Keeping } from "./Keeping";
import { RunAgain } from "./RunAgain";
import styles from "./Header.module.css";

export function Header({ job }: { readonly job: JobDetail }) {
  const colour = useTeamColour()(job.team);
  const now = useNow();
  return (
    <header className={styles.header}>
      <nav aria-label="Breadcrumb" className={styles.crumbs}>
        <Link to="/">Overview</Link> <span aria-hidden="true">/</span> {job.team}
      </nav>
      <div className={styles.title}>
        <h1>{job.name}</h1>
        <StateBadge state={job.state} />
        <div className={styles.actions}>
          {job.may_change && !isFinal(job.state) && <ChangeJob job={job} />}
          {job.may_change && <JobActions job={job} />}
          {job.may_rerun && isFinal(job.state) && <RunAgain job={job} />}
          {job.may_rerun && <GoTo address={`/submit?from=${job.id}`} text="Run again, edited" />}
          <CompareWith id={job.id} />
          {job.may_change && <Keeping job={job} />}
          {!job.may_change && <p className={styles.rights}>{whoChanges(job)}</p>}
        </div>
      </div>
      <p className={styles.meta}>
        <TeamMark team={job.team} />
        <code>{job.id}</code>
        <span>
          submitted by {job.submitted_by} <RelativeTime at={job.submitted_at} />
        </span>
        <TrialOf job={job} />
        <CodeOrigin job={job} />
        {dataUses(job.resolved_spec).map((use) => (
          <span key={use.source}>data {use.label}</span>
        ))}
      </p>
      <div className={styles.progress}>
        <p>
          <strong>{progressInWords(job)}</strong>
          <span>{lengthOf(job)}</span>
        </p>
        <p className={styles.eta}>{outlookOf(job, now)}</p>
        <div className={styles.bar}>
          <ProgressBar
            progress={job.progress}
            label={`Progress of ${job.name}`}
            colour={colour}
            isLive={isLively(job.state)}
          />
        </div>
      </div>
    </header>
  );
}

/** Which trial of which array it is, and with which values; of any other job nothing. */
function TrialOf({ job: { array, trial } }: { readonly job: JobDetail }) {
  if (array === null || trial === null) return null;
  const values = Object.entries(trial.values as Record<string, unknown>);
  return (
    <span>
      trial {trial.number} of{" "}
      {trial.is_swept ? (
        <Link to={`/sweeps/${array}`}>sweep {array}</Link>
      ) : (
        <Link to={`/jobs?array=${array}`}>array {array}</Link>
      )}
      {values.map(([name, value]) => `, ${name} ${String(value)}`)}
    </span>
  );
}

/** Where others are added: those of the same name first, of which it may be a later run. */
function CompareWith({ id }: { readonly id: string }) {
  return <GoTo address={compareAddress([id])} text="Compare with …" />;
}

function GoTo({ address, text }: { readonly address: string; readonly text: string }) {
  const navigate = useNavigate();
  return <Button onClick={() => void navigate(address)}>{text}</Button>;
}

/** Why there are no buttons. */
function whoChanges(job: JobDetail): string {
  const people = job.may_rerun ? `${job.submitted_by} and leads` : "members and leads";
  return `You see this job; ${people} of team ${job.team} change it.`;
}

function lengthOf(job: JobDetail): string {
  if (job.step === 0) return "";
  const epochs =
    job.total_epochs === null
      ? `epoch ${formatMetric(job.epoch)}`
      : `epoch ${formatMetric(job.epoch)} of ${formatMetric(job.total_epochs)}`;
  return `${epochs}, step ${formatCount(job.step)}`;
}

function outlookOf(job: JobDetail, now: number): string {
  if (isFinal(job.state)) return `${job.state} after ${formatDuration(job.completion_seconds)}`;
  const left = describeTimeLeft(job, now);
  if (left === null) return job.step === 0 ? "" : "no estimate yet";
  return `about ${left}`;
}
