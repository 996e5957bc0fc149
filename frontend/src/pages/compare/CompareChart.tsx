/** The curves of all, over what one chooses, to be looked at and taken along. */

import { useMemo, useRef, useState } from "react";

import type { ComparedJob, Comparison } from "../../api/types";
import { useInAddress } from "../../app/useInAddress";
import { Chart } from "../../charts/Chart";
import { useChartColours } from "../../charts/colours";
import { comparisonOption } from "../../charts/comparison";
import { savePng } from "../../charts/picture";
import { Button } from "../../design/Button";
import { Card } from "../../design/Card";
import { CopyAsCsv } from "../../design/CopyAsCsv";
import { EmptyState } from "../../design/EmptyState";
import { SelectField } from "../../design/Field";
import { Segments } from "../../design/Segments";
import { curvesAsCsv } from "../../domain/comparedRows";
import {
  comparedCurve,
  isDashed,
  letterOf,
  MEASURES,
  nameOf,
  OVER,
  slotOf,
  type Wanted,
} from "../../domain/comparison";
import { humanise } from "../../domain/format";
import { useIsNarrow } from "../jobs/useIsNarrow";
import styles from "./ComparePage.module.css";

const HEIGHT = { wide: 380, narrow: 280 } as const;
const SCALES = [
  { value: "", text: "Linear" },
  { value: "log", text: "Log" },
];

interface CompareChartProps {
  readonly jobs: readonly ComparedJob[];
  readonly comparison: Comparison;
  readonly wanted: Wanted;
}

export function CompareChart({ jobs, comparison, wanted }: CompareChartProps) {
  const [wish, setOver] = useInAddress("over");
  const [scale, setScale] = useInAddress("scale");
  const [, setMetric] = useInAddress("metric");
  const over = OVER.find(({ value }) => value === wish)?.value ?? "step";
  const isLogarithmic = scale === "log";
  const hasNames = !useIsNarrow();
  const colours = useChartColours();
  const box = useRef<HTMLDivElement>(null);
  const [told, setTold] = useState("");
  const name = nameOf(wanted, comparison.metric);
  const lines = useMemo(
    () =>
      jobs.map((job, place) => ({
        letter: letterOf(place),
        name: job.name,
        colour: colours.teams[slotOf(place)] ?? colours.accent,
        isDashed: isDashed(place),
        points: comparedCurve(job.curve, over),
      })),
    [jobs, colours, over],
  );
  const option = useMemo(
    () => comparisonOption({ lines, over, isLogarithmic, hasNames, colours }),
    [lines, over, isLogarithmic, hasNames, colours],
  );
  const hasCurves = lines.some(({ points }) => points.length > 1);
  const height = hasNames ? HEIGHT.wide : HEIGHT.narrow;
  const save = () => {
    if (box.current === null) return;
    savePng(box.current, colours.surface, `${name} of ${jobs.length} jobs`).catch(() => {
      setTold("Could not be saved");
    });
  };
  return (
    <Card
      title={name === "" ? "Curves" : humanise(name)}
      note={told}
      actions={
        <div className={styles.tools}>
          <SelectField
            label="Metric"
            all={comparison.metrics[0] ?? "nothing is logged"}
            options={[...comparison.metrics.slice(1), ...MEASURES.map(({ text }) => text)]}
            value={wanted.measure === null && name === comparison.metrics[0] ? "" : name}
            onChange={(text) => {
              const measure = MEASURES.find((one) => one.text === text);
              setMetric(measure === undefined ? text : `:${measure.value}`);
            }}
          />
          <Segments
            label="Over"
            options={OVER}
            value={over}
            onChange={(value) => {
              setOver(value === "step" ? "" : value);
            }}
          />
          <Segments
            label="Scale"
            options={SCALES}
            value={isLogarithmic ? "log" : ""}
            onChange={setScale}
          />
          <span className={styles.taking}>
            <CopyAsCsv what="the curves" csv={() => curvesAsCsv(jobs, name)} />
            <Button disabled={!hasCurves} onClick={save}>
              PNG
            </Button>
          </span>
        </div>
      }
    >
      {hasCurves ? (
        <div ref={box}>
          <Chart
            option={option}
            height={height}
            label={`${humanise(name)} of ${jobs.map((job) => job.name).join(", ")} over ${over}`}
          />
        </div>
      ) : (
        <div style={{ height }}>
          <EmptyState title="None of them has measured it">
            <p>
              A script reports with <code>job.log(loss=…)</code>. Choose another metric above.
            </p>
          </EmptyState>
        </div>
      )}
    </Card>
  );
}
