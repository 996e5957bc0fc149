/** How the training goes: what the script logged, and how fast it is, over what one chooses. */

import { useCallback, useMemo } from "react";

import { useMetrics } from "../../api/jobs";
import { metricsAddress } from "../../api/results";
import type { Job, MetricPoint } from "../../api/types";
import { useInAddress } from "../../app/useInAddress";
import { Chart } from "../../charts/Chart";
import { useChartColours } from "../../charts/colours";
import { curveOption } from "../../charts/curve";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import { SelectField } from "../../design/Field";
import { Segments } from "../../design/Segments";
import { Skeleton } from "../../design/Skeleton";
import { useTeamSlots } from "../../design/teamColour";
import type { Change } from "../../domain/changes";
import { AXES, bordersOf, curveOf, pacesOf, metricNames, type Axis } from "../../domain/curves";
import { humanise } from "../../domain/format";
import { isFinal } from "../../domain/states";
import { colourSlot } from "../../domain/teamColours";
import styles from "./Curves.module.css";

const POINTS = 500;
const HEIGHT = 220;
const MOST_SIDE_BY_SIDE = 3;

interface CurvesProps {
  readonly job: Job;
  readonly changes: readonly Change[];
}

export function Curves({ job, changes }: CurvesProps) {
  const metrics = useMetrics(job.id, POINTS, !isFinal(job.state));
  const [chosenMetric, setMetric] = useInAddress("metric");
  const [chosenPace, setPace] = useInAddress("pace");
  const [over, setOver] = useInAddress("over");
  const [scale, setScale] = useInAddress("scale");
  const points = metrics.data?.items;
  const names = useMemo(() => metricNames(points ?? []), [points]);
  const name = names.find((one) => one === chosenMetric) ?? names[0] ?? "loss";
  const metric = useCallback(({ values }: MetricPoint) => values[name], [name]);
  const paces = pacesOf(points ?? []);
  const pace = paces.find((one) => one.name === chosenPace) ?? paces[0];
  const axis = AXES.find((one) => one === over) ?? "time";
  const shared = { job, changes, points, axis, isLogarithmic: scale === "log" };
  return (
    <div className={styles.curves}>
      <Card
        title={humanise(name)}
        actions={
          names.length > 0 && (
            <div className={styles.tools}>
              <Choice label="Metric" names={names} name={name} onChange={setMetric} />
              <Segments label="Over" options={OVER} value={axis} onChange={setOver} />
              <Segments
                label="Scale"
                options={SCALES}
                value={scale === "log" ? "log" : ""}
                onChange={setScale}
              />
              <a href={metricsAddress(job.id)} title="All that was logged, over time" download>
                CSV
              </a>
            </div>
          )
        }
      >
        <Curve {...shared} name={name} pick={metric} />
      </Card>
      {pace !== undefined && (
        <Card
          title={pace.name}
          note={pace.unit}
          actions={
            <Choice
              label="Pace"
              names={paces.map((one) => one.name)}
              name={pace.name}
              onChange={setPace}
            />
          }
        >
          <Curve {...shared} name={pace.name} unit={pace.unit} pick={pace.of} isPace />
        </Card>
      )}
    </div>
  );
}

const SCALES = [
  { value: "", text: "Linear" },
  { value: "log", text: "Log" },
];
const OVER = AXES.map((axis) => ({ value: axis, text: humanise(axis) }));

interface ChoiceProps {
  readonly label: string;
  readonly names: readonly string[];
  readonly name: string;
  readonly onChange: (name: string) => void;
}

/** A few side by side, more in a list; the first is what is shown without a choice. */
function Choice({ label, names, name, onChange }: ChoiceProps) {
  const [first = "", ...others] = names;
  if (others.length === 0) return null;
  if (names.length <= MOST_SIDE_BY_SIDE) {
    const options = names.map((value) => ({ value, text: humanise(value) }));
    return <Segments label={label} options={options} value={name} onChange={onChange} />;
  }
  return (
    <SelectField
      label={label}
      all={first}
      options={others}
      value={name === first ? "" : name}
      onChange={onChange}
    />
  );
}

interface CurveProps extends CurvesProps {
  readonly points: readonly MetricPoint[] | undefined;
  readonly name: string;
  readonly pick: (point: MetricPoint) => number | null | undefined;
  readonly unit?: string;
  /** A mean of many steps already, or what was set: drawn as it is, from zero. */
  readonly isPace?: boolean;
  readonly axis: Axis;
  readonly isLogarithmic: boolean;
}

function Curve({ job, changes, points, name, pick, axis, isLogarithmic, ...drawn }: CurveProps) {
  const { unit = "", isPace = false } = drawn;
  const colours = useChartColours();
  const slot = colourSlot(useTeamSlots(), job.team);
  const option = useMemo(
    () =>
      curveOption({
        name: humanise(name),
        unit,
        points: curveOf(points ?? [], pick, axis),
        axis,
        borders: bordersOf(changes, points ?? [], axis),
        colour: colours.teams[slot] ?? colours.accent,
        colours,
        isNoisy: !isPace,
        startsAtZero: isPace,
        isLogarithmic,
      }),
    [points, changes, name, unit, isPace, pick, colours, slot, axis, isLogarithmic],
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
    <Chart
      option={option}
      height={HEIGHT}
      label={`${humanise(name)} of ${job.name} over ${axis}`}
      name={`${humanise(name)} of ${job.name}`}
    />
  );
}
