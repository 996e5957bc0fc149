/** What does the team have submitted again and again? When each is due next, and how it went. */

import { useRef } from "react";
import { Link } from "react-router";

import { messageOf } from "../../api/errors";
import {
  usePauseSchedule,
  useResumeSchedule,
  useRunSchedule,
  useSchedules,
} from "../../api/schedules";
import { randomKey } from "../../api/submission";
import type { Schedule, ScheduleRun } from "../../api/types";
import { ToneBadge } from "../../design/Badge";
import { Button } from "../../design/Button";
import { Card } from "../../design/Card";
import { Problem } from "../../design/Problem";
import { RelativeTime } from "../../design/Time";
import { timesInWords, toneOfRun } from "../../domain/schedules";
import styles from "./Secrets.module.css";

/** Nothing, for a team that has none. */
export function Schedules({ team }: { readonly team: string }) {
  const schedules = useSchedules(team);
  if (schedules.isLoadingError) {
    return <Problem error={schedules.error} onRetry={() => void schedules.refetch()} />;
  }
  const items = schedules.data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <Card title="Schedules" note="job specs that are submitted again and again" isFlush>
      <ul className={styles.list} aria-label="Schedules">
        {items.map((schedule) => (
          <Row key={schedule.id} team={team} schedule={schedule} />
        ))}
      </ul>
    </Card>
  );
}

interface RowProps {
  readonly team: string;
  readonly schedule: Schedule;
}

function Row({ team, schedule }: RowProps) {
  const { name, next_at: next, last_run: last } = schedule;
  return (
    <li className={styles.secret} aria-label={`Schedule ${name}`}>
      <div className={styles.about}>
        <p className={styles.head}>
          <strong>{name}</strong>
          <span className={styles.sets}>
            <code>{timesInWords(schedule.cron, schedule.time_zone)}</code>
            {schedule.is_paused && <ToneBadge tone="warning" text="paused" />}
          </span>
        </p>
        <p className={styles.note}>
          {next === null ? (
            schedule.paused_because
          ) : (
            <>
              Due next <RelativeTime at={next} />, for {schedule.holder}
            </>
          )}
        </p>
        {last !== null && <LastRun run={last} />}
      </div>
      <Verbs team={team} schedule={schedule} />
    </li>
  );
}

function LastRun({ run }: { readonly run: ScheduleRun }) {
  const [job] = run.jobs;
  return (
    <p className={styles.note}>
      <ToneBadge tone={toneOfRun(run)} text={run.state} /> <RelativeTime at={run.due_at} />
      {job !== undefined && (
        <>
          {": "}
          <Link to={`/jobs/${job.id}`}>{job.name}</Link>
          {run.job_count > 1 && ` and ${String(run.job_count - 1)} more`}
        </>
      )}
      {run.message !== "" && `: ${run.message}`}
    </p>
  );
}

function Verbs({ team, schedule }: RowProps) {
  const { name, is_paused: isPaused, may_change: mayChange, may_run: mayRun } = schedule;
  const pause = usePauseSchedule(team, name);
  const resume = useResumeSchedule(team, name);
  const run = useRunSchedule(team, name);
  const key = useRef(randomKey()); // of the run that is meant: a new one once it was made
  const calls = [pause, resume, run];
  const failed = calls.find(({ error }) => error !== null)?.error;
  const isBusy = calls.some(({ isPending }) => isPending);
  return (
    <div>
      <div className={styles.verbs}>
        {mayRun && (
          <Button
            aria-label={`Run ${name} now`}
            disabled={isBusy}
            onClick={() => {
              run.mutate(key.current, {
                onSuccess: () => {
                  key.current = randomKey();
                },
              });
            }}
          >
            Run now
          </Button>
        )}
        {mayChange && !isPaused && (
          <Button
            aria-label={`Pause ${name}`}
            disabled={isBusy}
            onClick={() => {
              pause.mutate();
            }}
          >
            Pause
          </Button>
        )}
        {mayChange && mayRun && isPaused && (
          <Button
            aria-label={`Resume ${name}`}
            disabled={isBusy}
            onClick={() => {
              resume.mutate();
            }}
          >
            Resume
          </Button>
        )}
      </div>
      {failed != null && (
        <p role="alert" className={styles.problem}>
          {messageOf(failed)}
        </p>
      )}
    </div>
  );
}
