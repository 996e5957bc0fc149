/** Each trial of a sweep in a row: its values, how far it came, and what it is now. */

import { Link } from "react-router";

import type { SweepDetail, SweepTrial } from "../../api/types";
import { ToneBadge } from "../../design/Badge";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import { formatGpuTime, formatMetric } from "../../domain/format";
import { inOrder, isOutOfIt, metricText, trialStatus, valueText } from "../../domain/sweeps";
import styles from "./Sweeps.module.css";

export function Trials({ sweep }: { readonly sweep: SweepDetail }) {
  return (
    <Card title="Trials" note="the best first, then those that came furthest" isFlush>
      {sweep.items.length === 0 ? (
        <EmptyState title="All its jobs are deleted" />
      ) : (
        <div role="region" className={styles.scroll} aria-label="Table: trials" tabIndex={0}>
          <table className={styles.table}>
            <caption className="visually-hidden">How each trial went</caption>
            <thead>
              <tr>
                <th scope="col">Trial</th>
                {sweep.parameters.map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
                <th scope="col">State</th>
                <th scope="col">Rung</th>
                <th scope="col">{sweep.resource}</th>
                <th scope="col">{sweep.metric}</th>
                <th scope="col">GPU time</th>
              </tr>
            </thead>
            <tbody>
              {inOrder(sweep).map((trial) => (
                <Row key={trial.id} trial={trial} parameters={sweep.parameters} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}

interface RowProps {
  readonly trial: SweepTrial;
  readonly parameters: readonly string[];
}

function Row({ trial, parameters }: RowProps) {
  const status = trialStatus(trial);
  const values = trial.values as Record<string, unknown>;
  return (
    <tr data-best={trial.is_best} data-out={isOutOfIt(trial)}>
      <th scope="row">
        <Link to={`/jobs/${trial.id}`}>{trial.name}</Link>
        {trial.is_best && <span className={styles.mark}> best</span>}
      </th>
      {parameters.map((name) => (
        <td key={name}>{valueText(values[name])}</td>
      ))}
      <td title={trial.message}>
        <ToneBadge tone={status.tone} text={status.text} />
      </td>
      <td>{trial.rung === null ? "–" : trial.rung + 1}</td>
      <td>{formatMetric(trial.resource)}</td>
      <td>{metricText(trial)}</td>
      <td>{formatGpuTime(trial.gpu_seconds)}</td>
    </tr>
  );
}
