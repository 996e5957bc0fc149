/** Curves of a few jobs laid over each other, each with its letter at its end. */

import { placeText, type Over } from "../domain/comparison";
import type { CurvePoint } from "../domain/curves";
import { formatMetric } from "../domain/format";
import type { ChartColours } from "./colours";
import type { ChartOption } from "./echarts";
import { countAxis, FONT_SIZE, timeTooltip, valueAxis } from "./frame";
import { tooltip } from "./tooltip";

export interface ComparedLine {
  readonly letter: string;
  readonly name: string;
  readonly colour: string;
  readonly isDashed: boolean;
  readonly points: readonly CurvePoint[];
}

export interface ComparisonInput {
  readonly lines: readonly ComparedLine[];
  readonly over: Over;
  readonly isLogarithmic: boolean;
  /** The names of jobs stand at the ends of their curves, not their letters alone. */
  readonly hasNames: boolean;
  readonly colours: ChartColours;
}

const LONGEST_NAME = 18; // at the end of a curve
const NAME_PIXELS = 148;
const LETTER_PIXELS = 24;

export function comparisonOption(input: ComparisonInput): ChartOption {
  const { lines, over, colours, hasNames } = input;
  const places = lines.flatMap(({ points }) => points.map(([place]) => place));
  const axis = countAxis(colours, Math.min(...places), Math.max(...places));
  const write = (place: number) => placeText(place, over);
  return {
    animation: false,
    grid: { top: 14, bottom: 26, left: 52, right: hasNames ? NAME_PIXELS : LETTER_PIXELS },
    xAxis: { ...axis, axisLabel: { ...axis.axisLabel, formatter: write } },
    yAxis: heightAxis(input),
    tooltip: timeTooltip(colours, (place) => valuesAt(input, place)),
    series: lines.map((line) => ({
      id: line.letter,
      type: "line",
      data: line.points.map(([place, value]) => [place, value]),
      symbol: "none",
      lineStyle: {
        color: line.colour,
        width: 2,
        join: "round",
        type: line.isDashed ? "dashed" : "solid",
      },
      itemStyle: { color: line.colour },
      emphasis: { disabled: true },
      endLabel: {
        show: true,
        distance: 6,
        color: line.colour,
        fontSize: FONT_SIZE,
        fontWeight: 600,
        formatter: hasNames ? `${line.letter}  ${short(line.name)}` : line.letter,
      },
      labelLayout: { moveOverlap: "shiftY" },
    })),
  };
}

function short(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name;
}

function heightAxis({ lines, colours, isLogarithmic }: ComparisonInput) {
  const axis = valueAxis(colours, formatMetric);
  const isPositive = lines.every(({ points }) => points.every(([, value]) => value > 0));
  if (isLogarithmic && isPositive) return { ...axis, type: "log" as const };
  return { ...axis, scale: true, splitNumber: 4 };
}

/** Of each job the value that it had last at this place; nothing where it did not get so far. */
function valuesAt({ lines, over }: ComparisonInput, place: number) {
  const rows = lines.flatMap(({ letter, name, colour, points }) => {
    const point = points.findLast(([before]) => before <= place);
    const hasEnded = (points.at(-1)?.[0] ?? -Infinity) < place;
    return point === undefined || hasEnded
      ? []
      : [{ colour, name: `${letter} ${short(name)}`, value: formatMetric(point[1]) }];
  });
  if (rows.length === 0) return null;
  const unit = over === "step" || over === "samples" ? `${over} ` : "";
  return tooltip({ title: `${unit}${placeText(place, over)}`, rows });
}
