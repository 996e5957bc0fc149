/** How many workers did the job need: what did each GPU bring, and where is the knee? */

import { useMemo } from "react";

import { useSizeAdvice } from "../../api/jobs";
import type { JobDetail, SizeAdvice as Advice } from "../../api/types";
import { Chart } from "../../charts/Chart";
import { useChartColours } from "../../charts/colours";
import { SCALING_HEIGHT, scalingOption } from "../../charts/scaling";
import { Card } from "../../design/Card";
import { useTeamColour } from "../../design/teamColour";
import {
  formatDuration,
  formatGpuTime,
  formatPercent,
  formatRate,
  NONE,
} from "../../domain/format";
import { isFinal } from "../../domain/states";
import outputs from "./results/Outputs.module.css";
import styles from "./SizeAdvice.module.css";
import { RunAgain } from "./RunAgain";

export function SizeAdvice({ job }: { readonly job: JobDetail }) {
  const isOver = isFinal(job.state);
  const { data: advice } = useSizeAdvice(job.id, !isOver);
  if (advice === undefined || advice.sizes.length === 0) return null;
  const { suggested } = advice;
  return (
    <Card
      title="How many workers it needed"
      note={advice.knee !== null && "samples per second by workers"}
      isFlush
      actions={
        suggested !== null && isOver && job.may_rerun ? (
          <RunAgain
            job={job}
            range={{
              min_workers: suggested.min_workers,
              max_workers: suggested.max_workers,
              allowed_workers: suggested.allowed_workers,
              requested_workers: suggested.requested_workers,
            }}
          />
        ) : undefined
      }
    >
      <p className={styles.message}>{advice.message}</p>
      {advice.knee !== null && <ScalingChart advice={advice} team={job.team} />}
      <Sizes advice={advice} />
      {advice.gpu_seconds_below_half > 0 && (
        <p className={styles.remark}>
          {`${formatGpuTime(advice.gpu_seconds_below_half)} of ${formatGpuTime(advice.gpu_seconds)} were spent with an efficiency below 50 %.`}
        </p>
      )}
    </Card>
  );
}

function ScalingChart({ advice, team }: { readonly advice: Advice; readonly team: string }) {
  const colours = useChartColours();
  const colour = useTeamColour()(team);
  const option = useMemo(() => scalingOption(advice, colour, colours), [advice, colour, colours]);
  return (
    <div className={styles.chart}>
      <Chart
        option={option}
        height={SCALING_HEIGHT}
        label={`Samples per second by number of workers; the knee is at ${String(advice.knee)}`}
        name="samples per second by number of workers"
      />
      <p className={styles.legend}>
        <span data-mark="measured" style={{ "--team": colour }}>
          measured
        </span>
        <span data-mark="model">model</span>
        <span data-mark="ideal">if no GPU was wasted</span>
      </p>
    </div>
  );
}

function Sizes({ advice }: { readonly advice: Advice }) {
  const tried = advice.sizes.filter((one) => one.seconds > 0 || one.samples_per_second !== null);
  return (
    <div className={outputs.scroll} tabIndex={0} role="region" aria-label="Sizes that it had">
      <table className={outputs.entries}>
        <caption className="visually-hidden">What each size was worth</caption>
        <thead>
          <tr>
            <th scope="col">Workers</th>
            <th scope="col">Trained for</th>
            <th scope="col">GPU time</th>
            <th scope="col">Speed</th>
            <th scope="col">Efficiency</th>
            <th scope="col">The last GPU brings</th>
          </tr>
        </thead>
        <tbody>
          {tried.map((one) => (
            <tr key={one.workers}>
              <th scope="row">{one.workers}</th>
              <td>{formatDuration(one.seconds)}</td>
              <td>{formatGpuTime(one.gpu_seconds)}</td>
              <td>{one.samples_per_second === null ? NONE : formatRate(one.samples_per_second)}</td>
              <td>{formatPercent(one.efficiency)}</td>
              <td>{formatPercent(one.gain_of_last_gpu)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
