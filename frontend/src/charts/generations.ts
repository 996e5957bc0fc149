/** A job's life as lanes over time: workers, global batch, and what each change cost. */

import type { Generation } from "../api/types";
import { batchSteps, changesOf, describeChange, workerSteps, type Change } from "../domain/changes";
import { lostWorkOf, stallOf } from "../domain/costs";
import { formatDuration, plural } from "../domain/format";
import { reasonLabel } from "../domain/reasons";
import { clockTime } from "../domain/time";
import type { ChartColours } from "./colours";
import type { ChartOption, LineSeriesOption } from "./echarts";
import { FONT_SIZE, timeAxis, timeTooltip, valueAxis } from "./frame";
import { tooltip, type TooltipRow } from "./tooltip";

export const TIMELINE_HEIGHT = 336;

const LANES = [
  { name: "Workers", top: 30, height: 108 },
  { name: "Global batch", top: 178, height: 56 },
  { name: "Stall, s", top: 276, height: 32 },
] as const;
const SIDES = { left: 44, right: 14 };

export interface TimelineInput {
  readonly generations: readonly Generation[];
  readonly maxWorkers: number;
  readonly now: number;
  readonly colours: ChartColours;
  readonly colour: string;
}

export function timelineOption(input: TimelineInput): ChartOption {
  const { generations, colours, now } = input;
  const workers = workerSteps(generations, now);
  const changes = changesOf(generations);
  const axis = timeAxis(colours, workers[0]?.[0] ?? now, workers.at(-1)?.[0] ?? now);
  return {
    animation: false,
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    tooltip: timeTooltip(colours, (at) => generationAt(changes, at)),
    grid: LANES.map(({ top, height }) => ({ top, height, ...SIDES })),
    xAxis: LANES.map((_, lane) => ({
      ...axis,
      gridIndex: lane,
      axisLabel: { ...axis.axisLabel, show: lane === LANES.length - 1 },
    })),
    yAxis: LANES.map((lane, index) => laneAxis(lane.name, index, input)),
    series: [
      stepSeries("workers", 0, workers, input.colour, 0.22),
      marksSeries(changes, input),
      stepSeries("batch", 1, batchSteps(generations, now), colours.muted, 0.08),
      stallSeries(changes, colours),
      pointerSeries(axis.min, axis.max),
    ],
  };
}

function laneAxis(name: string, lane: number, { colours, maxWorkers }: TimelineInput) {
  return {
    ...valueAxis(colours),
    gridIndex: lane,
    min: 0,
    splitNumber: lane === 0 ? Math.min(4, maxWorkers) : 1,
    ...(lane === 0 ? { minInterval: 1, max: maxWorkers } : {}),
    name,
    nameGap: 13,
    nameTextStyle: {
      color: colours.muted,
      fontSize: FONT_SIZE,
      align: "left" as const,
      padding: [0, 0, 0, -SIDES.left + 8],
    },
  };
}

function stepSeries(
  id: string,
  lane: number,
  points: ReturnType<typeof workerSteps>,
  colour: string,
  opacity: number,
): LineSeriesOption {
  return {
    id,
    type: "line",
    xAxisIndex: lane,
    yAxisIndex: lane,
    step: "end",
    symbol: "none",
    data: points.map(([at, value]) => [at, value]),
    lineStyle: { color: colour, width: 2 },
    areaStyle: { color: colour, opacity },
    itemStyle: { color: colour },
    emphasis: { disabled: true },
  };
}

/** A dot where each generation began. */
function marksSeries(
  changes: readonly Change[],
  { colour, colours }: TimelineInput,
): LineSeriesOption {
  return {
    id: "changes",
    type: "line",
    xAxisIndex: 0,
    yAxisIndex: 0,
    data: changes.map((change) => [change.at, change.workers]),
    lineStyle: { width: 0 },
    symbol: "circle",
    symbolSize: 8,
    showSymbol: true,
    itemStyle: { color: colours.surface, borderColor: colour, borderWidth: 2, opacity: 1 },
    emphasis: { disabled: true },
    z: 4,
  };
}

/** Each stall as an upright stroke as high as it was long; a bar series would move the axis. */
function stallSeries(changes: readonly Change[], colours: ChartColours): LineSeriesOption {
  return {
    id: "stalls",
    type: "line",
    xAxisIndex: 2,
    yAxisIndex: 2,
    symbol: "none",
    data: changes.flatMap(({ at, stallSeconds }) => [
      [at, 0],
      [at, stallSeconds],
      [at, null],
    ]),
    lineStyle: { color: colours.danger, width: 4 },
    emphasis: { disabled: true },
  };
}

/** So many places can be pointed at; more than the chart has pixels to spare. */
const POINTER_PLACES = 500;

/** A tooltip snaps to the nearest point, so points without ink stand everywhere. */
function pointerSeries(from: number, to: number): LineSeriesOption {
  return {
    id: "pointer",
    type: "line",
    symbol: "none",
    lineStyle: { width: 0 },
    data: Array.from({ length: POINTER_PLACES + 1 }, (_, place) => [
      from + ((to - from) * place) / POINTER_PLACES,
      0,
    ]),
  };
}

/** Rows of a tooltip that most changes do not need. */
function rarerCosts(change: Change): TooltipRow[] {
  const rows: TooltipRow[] = [];
  if (change.transferSeconds > 0) {
    rows.push({ name: "Transfer", value: formatDuration(change.transferSeconds) });
  }
  if (change.lostSteps > 0 || change.restart !== null)
    rows.push({ name: "Lost work", value: lostWorkOf(change) });
  if (change.lostWorkers.length > 0) {
    rows.push({ name: "Lost", value: plural(change.lostWorkers.length, "worker") });
  }
  return rows;
}

function generationAt(changes: readonly Change[], at: number): HTMLElement | null {
  const change = changes.findLast((candidate) => candidate.at <= at);
  if (change === undefined) return null;
  return tooltip({
    title: `Generation ${change.generation} · from ${clockTime(change.at)}`,
    rows: [
      { name: describeChange(change), value: "" },
      { name: reasonLabel(change.reason), value: "" },
      { name: "Stall", value: stallOf(change) },
      ...rarerCosts(change),
    ],
    text: change.message,
  });
}
