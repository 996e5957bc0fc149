/** A measured quantity over time, steps or samples, with the borders between generations. */

import { smooth, type Axis, type Border, type CurvePoint } from "../domain/curves";
import { formatCount, formatMetric } from "../domain/format";
import { clockTime } from "../domain/time";
import type { ChartColours } from "./colours";
import type { ChartOption, LineSeriesOption } from "./echarts";
import { countAxis, momentLine, timeAxis, timeTooltip, valueAxis } from "./frame";
import { tooltip } from "./tooltip";

export interface CurveInput {
  readonly name: string;
  readonly unit: string;
  readonly points: readonly CurvePoint[];
  readonly axis: Axis;
  readonly borders: readonly Border[];
  readonly colour: string;
  readonly colours: ChartColours;
  /** Noisy per-step values get a smoothed line over them; means of many steps do not need one. */
  readonly isNoisy: boolean;
  readonly startsAtZero: boolean;
  /** By powers of ten, which needs values above zero. */
  readonly isLogarithmic?: boolean;
}

/** Fewer points are drawn as they are: a smoothed line would invent a course. */
const POINTS_TO_SMOOTH = 40;

export function curveOption(input: CurveInput): ChartOption {
  const { points, colours, colour, axis } = input;
  const from = points[0]?.[0] ?? 0;
  const to = points.at(-1)?.[0] ?? 0;
  const isSmoothed = input.isNoisy && points.length >= POINTS_TO_SMOOTH;
  const main = isSmoothed ? smooth(points) : points;
  return {
    animation: false,
    grid: { top: 22, bottom: 26, left: 46, right: 14 },
    xAxis: axis === "time" ? timeAxis(colours, from, to) : countAxis(colours, from, to),
    yAxis: heightAxis(input),
    tooltip: timeTooltip(colours, (at) => valueAt(input, at)),
    series: [
      ...(isSmoothed ? [line("raw", points, colour, 1, 0.3)] : []),
      { ...line("main", main, colour, 2, 1), markLine: lines(input, from, to) },
    ],
  };
}

function heightAxis({ points, colours, startsAtZero, isLogarithmic }: CurveInput) {
  const axis = valueAxis(colours, formatMetric);
  if (isLogarithmic === true && canBeLogarithmic(points)) return { ...axis, type: "log" as const };
  return { ...axis, scale: !startsAtZero, splitNumber: 4 };
}

function canBeLogarithmic(points: readonly CurvePoint[]): boolean {
  return points.every(([, value]) => value > 0);
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
function lines({ borders, colours }: CurveInput, from: number, to: number) {
  let lastWord = -Infinity;
  const data = borders
    .filter(({ place }) => place > from)
    .map(({ place, workers }) => {
      const hasRoom = place - lastWord > (to - from) * 0.05;
      if (hasRoom) lastWord = place;
      return momentLine(place, hasRoom ? `×${workers}` : "", colours);
    });
  return { silent: true, animation: false, symbol: "none", data };
}

function valueAt({ points, name, unit, axis, borders, colour }: CurveInput, place: number) {
  const point = points.findLast(([before]) => before <= place);
  if (point === undefined) return null;
  const border = borders.findLast((candidate) => candidate.place <= place);
  const value = unit === "" ? formatMetric(point[1]) : `${formatMetric(point[1])} ${unit}`;
  return tooltip({
    title: axis === "time" ? clockTime(place) : `${axis} ${formatCount(point[0])}`,
    rows: [
      { colour, name, value },
      ...(border === undefined
        ? []
        : [
            { name: "Workers", value: String(border.workers) },
            { name: "Global batch", value: String(border.batch) },
          ]),
    ],
  });
}
