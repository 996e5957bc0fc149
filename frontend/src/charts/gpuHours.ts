/** A team's GPU-hours by day or month: its guarantee and who used it, and above it what it borrowed. */

import { formatGpuHours, formatMetric } from "../domain/format";
import type { GpuBar } from "../domain/gpuHours";
import type { ChartColours } from "./colours";
import type { ChartOption, LineSeriesOption } from "./echarts";
import { timeAxis, timeTooltip, valueAxis } from "./frame";
import { hatching } from "./hatching";
import { tooltip } from "./tooltip";

type Layer = "own" | "lent" | "idle" | "borrowed" | "guarantee";

export function gpuHoursOption(
  bars: readonly GpuBar[],
  colours: ChartColours,
  colour: string,
): ChartOption {
  const begins = bars[0]?.begins ?? 0;
  const ends = bars.at(-1)?.ends ?? 0;
  return {
    animation: false,
    grid: { top: 14, bottom: 26, left: 46, right: 8 },
    xAxis: timeAxis(colours, begins, ends),
    yAxis: { ...valueAxis(colours, formatMetric), min: 0, splitNumber: 4 },
    tooltip: timeTooltip(colours, (at) => barAt(bars, at, colour)),
    series: [
      area("own", bars, colour),
      area("lent", bars, hatching(colours.muted, colours.surface)),
      area("idle", bars, "transparent"),
      area("borrowed", bars, hatching(colour, colours.surface)),
      guarantee(bars, colours),
    ],
  };
}

type Fill = NonNullable<LineSeriesOption["areaStyle"]>["color"] & {};

function area(layer: Layer, bars: readonly GpuBar[], fill: Fill): LineSeriesOption {
  return {
    ...steps(layer, bars),
    stack: "hours",
    lineStyle: { width: 0 },
    areaStyle: { color: fill, opacity: 0.88 },
  };
}

/** As it was in each of them, whatever it is now. */
function guarantee(bars: readonly GpuBar[], colours: ChartColours): LineSeriesOption {
  return {
    ...steps("guarantee", bars),
    lineStyle: { color: colours.text, width: 1.5, type: "dashed" },
    z: 5,
  };
}

/** Each value holds until the next one begins, and the last one until its own end. */
function steps(layer: Layer, bars: readonly GpuBar[]) {
  const last = bars.at(-1);
  return {
    id: layer,
    type: "line" as const,
    step: "end" as const,
    symbol: "none",
    data: [
      ...bars.map((bar) => [bar.begins, bar[layer]]),
      ...(last === undefined ? [] : [[last.ends, last[layer]]]),
    ],
    emphasis: { disabled: true },
  };
}

function barAt(bars: readonly GpuBar[], at: number, colour: string): HTMLElement | null {
  const bar = bars.findLast(({ begins }) => begins <= at);
  if (bar === undefined) return null;
  const row = (name: string, gpuHours: number, mark?: string) => ({
    name,
    value: `${formatGpuHours(gpuHours)} GPU-h`,
    ...(mark !== undefined && { colour: mark }),
  });
  return tooltip({
    title: bar.name,
    rows: [
      row("Own, of the guarantee", bar.own, colour),
      row("Borrowed", bar.borrowed, colour),
      row("Lent", bar.lent),
      row("Idle", bar.idle),
      row("Guarantee", bar.guarantee),
    ],
  });
}
