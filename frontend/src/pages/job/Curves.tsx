/** How the training goes: what the script logged, and how fast it is. */

import { useMemo } from "react";

import { useMetrics } from "../../api/jobs";
import { metricsAddress } from "../../api/results";
import type { Job, MetricPoint } from "../../api/types";
import { useInAddress } from "../../app/useInAddress";
import { Chart } from "../../charts/Chart";
import { useChartColours } from "../../charts/colours";
import { curveOption } from "../../charts/curve";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import { Segments } from "../../design/Segments";
import { Skeleton } from "../../design/Skeleton";
import { useTeamSlots } from "../../design/teamColour";
import type { Change } from "../../domain/changes";
import { curveOf, metricNames, throughputOf, type CurvePoint } from "../../domain/curves";
import { humanise } from "../../domain/format";
import { isFinal } from "../../domain/states";
import { colourSlot } from "../../domain/teamColours";
import styles from "./Curves.module.css";

const POINTS = 500;
const HEIGHT = 220;
const MOST_NAMES = 4;

interface CurvesProps {
  readonly job: Job;
  readonly changes: readonly Change[];
}

export function Curves({ job, changes }: CurvesProps) {
  const metrics = useMetrics(job.id, POINTS, !isFinal(job.state));
  const [chosen, setChosen] = useInAddress("metric");
  const points = metrics.data?.items;
  const names = metricNames(points ?? []).slice(0, MOST_NAMES);
  const name = names.find((one) => one === chosen) ?? names[0] ?? "loss";
  const actions = names.length > 0 && (
    <>
      {names.length > 1 && (
        <Segments
          label="Metric"
          options={names.map((value) => ({ value, text: humanise(value) }))}
          value={name}
          onChange={setChosen}
        />
      )}
      <a href={metricsAddress(job.id)} title="All that was logged, over time" download>
        CSV
      </a>
    </>
  );
  return (
    <div className={styles.curves}>
      <Card title={humanise(name)} actions={actions}>
        <Curve
          job={job}
          changes={changes}
          points={points}
          name={name}
          pick={(items) => curveOf(items, name)}
        />
      </Card>
      <Card title="Throughput" note="samples per second; ×n marks the workers">
        <Curve
          job={job}
          changes={changes}
          points={points}
          name="throughput"
          pick={throughputOf}
          unit="samples/s"
        />
      </Card>
    </div>
  );
}

interface CurveProps extends CurvesProps {
  readonly points: readonly MetricPoint[] | undefined;
  readonly name: string;
  readonly pick: (points: readonly MetricPoint[]) => CurvePoint[];
  readonly unit?: string;
}

function Curve({ job, changes, points, name, pick, unit = "" }: CurveProps) {
  const colours = useChartColours();
  const slot = colourSlot(useTeamSlots(), job.team);
  const option = useMemo(
    () =>
      curveOption({
        name: humanise(name),
        unit,
        points: pick(points ?? []),
        changes,
        colour: colours.teams[slot] ?? colours.accent,
        colours,
        isNoisy: unit === "",
        startsAtZero: unit !== "",
      }),
    [points, changes, name, unit, pick, colours, slot],
  );
  if (points === undefined) return <Skeleton height={HEIGHT} />;
  if (points.length < 2) {
    return (
      <div style={{ height: HEIGHT }}>
        <EmptyState title={isFinal(job.state) ? "Nothing was measured" : "No measurements yet"}>
          <p>
            The script reports with <code>job.log(loss=…)</code>.
          </p>
        </EmptyState>
      </div>
    );
  }
  return (
    <Chart option={option} height={HEIGHT} label={`${humanise(name)} of ${job.name} over time`} />
  );
}
