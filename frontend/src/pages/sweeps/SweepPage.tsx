/** Which trials does a sweep have, how do they compare, and which is the best? */

import { useMemo } from "react";
import { Link, useParams } from "react-router";

import { messageOf } from "../../api/errors";
import { useCancelSweep, useSweep, useSweepCurves } from "../../api/sweeps";
import type { SweepDetail } from "../../api/types";
import { Chart } from "../../charts/Chart";
import { useChartColours } from "../../charts/colours";
import { sweepOption } from "../../charts/sweep";
import { ToneBadge } from "../../design/Badge";
import { Button } from "../../design/Button";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import frame from "../../design/Page.module.css";
import { Problem } from "../../design/Problem";
import { Skeleton } from "../../design/Skeleton";
import { RelativeTime } from "../../design/Time";
import { formatMetric } from "../../domain/format";
import { metricText, sweepStatus, trialLines, valuesText } from "../../domain/sweeps";
import { Trials } from "./Trials";
import styles from "./Sweeps.module.css";

const HEIGHT = 320;

export default function SweepPage() {
  const { id = "" } = useParams();
  const found = useSweep(id);
  if (found.data === undefined) {
    return found.isLoadingError ? (
      <Problem error={found.error} onRetry={() => void found.refetch()} />
    ) : (
      <Skeleton height={240} />
    );
  }
  return <Shown sweep={found.data} />;
}

function Shown({ sweep }: { readonly sweep: SweepDetail }) {
  const status = sweepStatus(sweep);
  return (
    <div className={frame.page}>
      <title>{`${sweep.name} · Sweep · Concertina`}</title>
      <header className={frame.heading}>
        <h1>{sweep.name}</h1>
        <ToneBadge tone={status.tone} text={status.text} />
        <p>
          sweep of team {sweep.team} · {sweep.goal} {sweep.metric} · submitted by{" "}
          {sweep.submitted_by} <RelativeTime at={sweep.submitted_at} />
        </p>
      </header>
      <Verbs sweep={sweep} />
      {sweep.message !== "" && (
        <p role="alert" className={styles.problem}>
          {sweep.message}
        </p>
      )}
      <Best sweep={sweep} />
      <Curves sweep={sweep} />
      <Trials sweep={sweep} />
    </div>
  );
}

function Verbs({ sweep: { id, ended_at, may_change } }: { readonly sweep: SweepDetail }) {
  const cancel = useCancelSweep(id);
  return (
    <div className={styles.verbs}>
      <Link to="/sweeps">All sweeps</Link>
      <Link to={`/jobs?array=${id}`}>Its jobs</Link>
      {may_change && ended_at === null && (
        <Button
          disabled={cancel.isPending}
          onClick={() => {
            cancel.mutate(undefined);
          }}
        >
          Cancel the sweep
        </Button>
      )}
      {cancel.error !== null && (
        <p role="alert" className={styles.problem}>
          {messageOf(cancel.error)}
        </p>
      )}
    </div>
  );
}

function Best({ sweep }: { readonly sweep: SweepDetail }) {
  const best = sweep.items.find(({ is_best }) => is_best);
  if (best === undefined) return null;
  return (
    <p role="status" className={styles.best}>
      Best{sweep.ended_at === null && " so far"}: <Link to={`/jobs/${best.id}`}>{best.name}</Link>,{" "}
      {sweep.metric} {metricText(best)} with {valuesText(best)}
    </p>
  );
}

function Curves({ sweep }: { readonly sweep: SweepDetail }) {
  const curves = useSweepCurves(sweep.id, sweep.ended_at !== null).data?.items;
  const colours = useChartColours();
  const { rungs, resource, metric } = sweep;
  const lines = useMemo(() => trialLines(sweep, curves ?? []), [sweep, curves]);
  const option = useMemo(
    () => sweepOption({ lines, rungs, resource, metric, colours }),
    [lines, rungs, resource, metric, colours],
  );
  return (
    <Card title={`${metric} over ${resource}`} note={rungsText(sweep)}>
      {lines.length > 0 ? (
        <Chart
          option={option}
          height={HEIGHT}
          label={`${metric} of ${String(lines.length)} trials over ${resource}`}
          name={`${metric} over ${resource}`}
        />
      ) : (
        <EmptyState title="No trial has logged it yet">
          <p>
            A script reports with <code>job.log({metric}=…)</code>.
          </p>
        </EmptyState>
      )}
    </Card>
  );
}

function rungsText({ rungs, reduction, resource }: SweepDetail): string {
  if (reduction === null) return "each trial trains to its end";
  const places = rungs.map(formatMetric).join(", ");
  return `one in ${String(reduction)} goes on after ${places} ${resource}; grey: waits or stopped`;
}
