/** GPUs in use over time, stacked by team, with the border of each team's guarantee. */

import type { Utilisation } from "../api/types";
import { plural } from "../domain/format";
import { clockTime } from "../domain/time";
import {
  beginOf,
  guaranteeBands,
  teamUse,
  layersOfUse,
  type TeamUse,
  type UseLayer,
} from "../domain/utilisation";
import type { ChartColours } from "./colours";
import type { ChartOption, LineSeriesOption } from "./echarts";
import { timeAxis, timeTooltip, valueAxis } from "./frame";
import { hatching } from "./hatching";
import { tooltip, type TooltipRow } from "./tooltip";

/** Space round the plot; the gutter beside the chart uses the same. */
export const PLOT = { top: 14, bottom: 26, left: 30, right: 6 };

export function utilisationOption(
  utilisation: Utilisation,
  minutes: number,
  colours: ChartColours,
  colourOf: (team: string) => string,
): ChartOption {
  const uses = teamUse(utilisation);
  const points = uses[0]?.points ?? [];
  return {
    animation: false,
    grid: { ...PLOT },
    xAxis: timeAxis(colours, beginOf(utilisation, minutes), points.at(-1)?.[0] ?? 0),
    yAxis: {
      ...valueAxis(colours),
      min: 0,
      max: Math.max(1, utilisation.gpus_total),
      minInterval: 1,
    },
    tooltip: timeTooltip(colours, (at) => useAt(uses, at, colourOf)),
    series: [
      ...layersOfUse(uses, utilisation.gpus_total).map((layer) =>
        layerSeries(
          layer,
          points.map(([at]) => at),
          fillOf(layer, colours, colourOf),
        ),
      ),
      poolSeries(utilisation, colours),
    ],
  };
}

type Fill = NonNullable<LineSeriesOption["areaStyle"]>["color"] & {};

/** Solid: a team's own GPUs. Hatched: borrowed ones. Nothing where nobody holds any. */
function fillOf(
  { zone, team }: UseLayer,
  colours: ChartColours,
  colourOf: (team: string) => string,
): Fill {
  if (team === null) return "transparent";
  const colour = colourOf(team);
  return zone === team ? colour : hatching(colour, colours.surface);
}

function layerSeries(
  { zone, team, gpus }: UseLayer,
  moments: readonly number[],
  fill: Fill,
): LineSeriesOption {
  return {
    id: `${zone} ${team ?? ""}`,
    type: "line",
    stack: "use",
    step: "end",
    symbol: "none",
    data: moments.map((at, index) => [at, gpus[index] ?? 0]),
    lineStyle: { width: 0 },
    areaStyle: { color: fill, opacity: 0.88 },
    emphasis: { disabled: true },
  };
}

/** A series without points that carries the lines: pool size, and borders of the guarantees. */
function poolSeries(utilisation: Utilisation, colours: ChartColours): LineSeriesOption {
  const borders = guaranteeBands(utilisation)
    .filter((band) => band.to < utilisation.gpus_total)
    .map((band) => ({
      yAxis: band.to,
      lineStyle: { color: colours.text, type: "dashed" as const, width: 1.2, opacity: 0.75 },
    }));
  const size = {
    yAxis: utilisation.gpus_total,
    lineStyle: { color: colours.text, type: "solid" as const, width: 1.5 },
  };
  return {
    id: "pool",
    type: "line",
    data: [],
    markLine: {
      silent: true,
      animation: false,
      symbol: "none",
      label: { show: false },
      data: [size, ...borders],
    },
  };
}

function useAt(
  uses: readonly TeamUse[],
  at: number,
  colourOf: (team: string) => string,
): HTMLElement | null {
  const index = uses[0]?.points.findLastIndex(([time]) => time <= at) ?? -1;
  if (index < 0) return null;
  return tooltip({
    title: clockTime(at),
    rows: uses.map((use) => rowOf(use, index, colourOf(use.team))),
  });
}

function rowOf(use: TeamUse, index: number, colour: string): TooltipRow {
  const gpus = use.points[index]?.[1] ?? 0;
  const waiting = use.waiting[index] ?? 0;
  const borrowed = gpus - (use.guaranteed[index] ?? 0);
  const notes = [
    ...(borrowed > 0 ? [`${borrowed} borrowed`] : []),
    ...(waiting > 0 ? [`waits for ${waiting}`] : []),
  ];
  return {
    colour,
    name: use.team,
    value: plural(gpus, "GPU"),
    ...(notes.length > 0 ? { note: notes.join(", ") } : {}),
  };
}
