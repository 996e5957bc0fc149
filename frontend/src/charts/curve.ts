/** A measured quantity over time, with the borders between generations. */

import type { Change } from "../domain/changes";
import { smooth, type CurvePoint } from "../domain/curves";
import { formatMetric } from "../domain/format";
import { clockTime } from "../domain/time";
import type { ChartColours } from "./colours";
import type { ChartOption, LineSeriesOption } from "./echarts";
import { momentLine, timeAxis, timeTooltip, valueAxis } from "./frame";
import { tooltip } from "./tooltip";

export interface CurveInput {
  readonly name: string;
  readonly unit: string;
  readonly points: readonly CurvePoint[];
  readonly changes: readonly Change[];
  readonly colour: string;
  readonly colours: ChartColours;
  /** Noisy per-step values get a smoothed line over them; means of many steps do not need one. */
  readonly isNoisy: boolean;
  readonly startsAtZero: boolean;
}

/** Fewer points are drawn as they are: a smoothed line would invent a course. */
const POINTS_TO_SMOOTH = 40;

export function curveOption(input: CurveInput): ChartOption {
  const { points, colours, colour } = input;
  const from = points[0]?.[0] ?? 0;
  const to = points.at(-1)?.[0] ?? 0;
  const isSmoothed = input.isNoisy && points.length >= POINTS_TO_SMOOTH;
  const main = isSmoothed ? smooth(points) : points;
  return {
    animation: false,
    grid: { top: 22, bottom: 26, left: 46, right: 14 },
    xAxis: timeAxis(colours, from, to),
    yAxis: { ...valueAxis(colours, formatMetric), scale: !input.startsAtZero, splitNumber: 4 },
    tooltip: timeTooltip(colours, (at) => valueAt(input, at)),
    series: [
      ...(isSmoothed ? [line("raw", points, colour, 1, 0.3)] : []),
      { ...line("main", main, colour, 2, 1), markLine: borders(input, from, to) },
    ],
  };
}

function line(
  id: string,
  points: readonly CurvePoint[],
  colour: string,
  width: number,
  opacity: number,
): LineSeriesOption {
  return {
    id,
    type: "line",
    data: points.map(([at, value]) => [at, value]),
    symbol: "none",
    lineStyle: { color: colour, width, opacity, join: "round" },
    itemStyle: { color: colour },
    emphasis: { disabled: true },
  };
}

/** One line per change; a word only where it does not run into the one before. */
function borders({ changes, colours }: CurveInput, from: number, to: number) {
  let lastWord = -Infinity;
  const data = changes
    .filter((change) => change.at > from)
    .map((change) => {
      const hasRoom = change.at - lastWord > (to - from) * 0.05;
      if (hasRoom) lastWord = change.at;
      return momentLine(change.at, hasRoom ? `×${change.workers}` : "", colours);
    });
  return { silent: true, animation: false, symbol: "none", data };
}

function valueAt({ points, name, unit, changes, colour }: CurveInput, at: number) {
  const point = points.findLast(([time]) => time <= at);
  if (point === undefined) return null;
  const change = changes.findLast((candidate) => candidate.at <= at);
  const value = unit === "" ? formatMetric(point[1]) : `${formatMetric(point[1])} ${unit}`;
  return tooltip({
    title: clockTime(at),
    rows: [
      { colour, name, value },
      ...(change === undefined
        ? []
        : [
            { name: "Workers", value: String(change.workers) },
            { name: "Global batch", value: String(change.batch) },
          ]),
    ],
  });
}
