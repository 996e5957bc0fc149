/** One tick: who had what before and after it, why, and how good the plan was. */

import { Link } from "react-router";

import type { TickChange, TickDetail } from "../../api/types";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import { Skeleton } from "../../design/Skeleton";
import { TeamMark } from "../../design/TeamMark";
import { formatDuration, formatMetric, formatPercent, NONE } from "../../domain/format";
import { changeText, reasonText } from "../../domain/ticks";
import { absoluteTime, milliseconds } from "../../domain/time";
import { BeforeAfter } from "./BeforeAfter";
import styles from "./AutoscalerPage.module.css";

interface MomentProps {
  readonly tick: TickDetail | null | undefined;
  readonly pool: string;
  readonly isLoading: boolean;
}

export function Moment({ tick, pool, isLoading }: MomentProps) {
  if (tick === undefined && isLoading) return <Skeleton height={220} />;
  if (tick == null) {
    return (
      <Card title="Before and after">
        <EmptyState title="No change until then">
          <p>The autoscaler looks every few seconds, and writes down what it changes.</p>
        </EmptyState>
      </Card>
    );
  }
  const outcome = tick.pools.find((one) => one.pool === pool);
  const isHere = (one: { readonly pool: string | null }) => one.pool === pool || one.pool === null;
  const jobs = tick.jobs.filter(isHere);
  return (
    <Card title="Before and after" note={absoluteTime(milliseconds(tick.at))}>
      {tick.alarm !== "" && (
        <p className={styles.alarm}>
          <b>Alarm:</b> {tick.alarm}
        </p>
      )}
      {jobs.length > 0 && <BeforeAfter jobs={jobs} gpusTotal={outcome?.gpus_total ?? 0} />}
      <ul className={styles.changes} aria-label="Changes of this moment">
        {tick.changes.filter(isHere).map((change, index) => (
          <Change key={change.job_id ?? index} change={change} />
        ))}
      </ul>
      <dl className={styles.facts}>
        <Fact name="One more GPU" value={formatMetric(outcome?.price)} />
        <Fact name="Gap of the plan" value={gapText(outcome?.gap)} />
        <Fact name="Looked for" value={formatDuration(tick.observe_seconds)} />
        <Fact name="Planned for" value={formatDuration(tick.plan_seconds)} />
        <Fact name="Carried out in" value={formatDuration(tick.apply_seconds)} />
        <Fact name="Policy" value={outcome?.policy ?? NONE} />
      </dl>
    </Card>
  );
}

function gapText(gap: number | null | undefined): string {
  return gap === 0 ? "none: it is the best" : formatPercent(gap);
}

function Change({ change }: { readonly change: TickChange }) {
  const text = changeText(change);
  const reason = reasonText(change);
  return (
    <li>
      <div className={styles.change}>
        <TeamMark team={change.team} />
        {change.job_id === null ? (
          <b>{text}</b>
        ) : (
          <Link to={`/jobs/${change.job_id}`}>
            <b>{text}</b>
          </Link>
        )}
        {reason !== "" && <span className={styles.reason}>{reason}</span>}
        {change.gain !== null && change.gain !== 0 && (
          <span className={styles.reason}>
            {change.gain > 0 ? "+" : "−"}
            {formatPercent(Math.abs(change.gain))} speed predicted
          </span>
        )}
      </div>
      {change.message !== "" && <p>{change.message}</p>}
    </li>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
