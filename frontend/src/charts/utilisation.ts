/** GPUs in use over time, stacked by team, with the border of each team's guarantee. */

import type { Utilisation } from "../api/types";
import { plural } from "../domain/format";
import { clockTime } from "../domain/time";
import { guaranteeBands, teamUse, type TeamUse } from "../domain/utilisation";
import type { ChartColours } from "./colours";
import type { ChartOption, LineSeriesOption } from "./echarts";
import { timeAxis, timeTooltip, valueAxis } from "./frame";
import { hatching } from "./hatching";
import { tooltip, type TooltipRow } from "./tooltip";

/** Space round the plot; the gutter beside the chart uses the same. */
export const PLOT = { top: 14, bottom: 26, left: 30, right: 6 };

export function utilisationOption(
  utilisation: Utilisation,
  colours: ChartColours,
  colourOf: (team: string) => string,
): ChartOption {
  const uses = teamUse(utilisation);
  const points = uses[0]?.points ?? [];
  return {
    animation: false,
    grid: { ...PLOT },
    xAxis: timeAxis(colours, points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 0),
    yAxis: {
      ...valueAxis(colours),
      min: 0,
      max: Math.max(1, utilisation.gpus_total),
      minInterval: 1,
    },
    tooltip: timeTooltip(colours, (at) => useAt(uses, at, colourOf)),
    series: [
      ...uses.flatMap((use) => teamSeries(use, colourOf(use.team), colours)),
      poolSeries(utilisation, colours),
    ],
  };
}

/** Solid: the team's own GPUs, by the guarantee of that time. Hatched: those it borrowed. */
function teamSeries(use: TeamUse, colour: string, colours: ChartColours): LineSeriesOption[] {
  const { team, guaranteed, points } = use;
  const parts = points.map(([at, gpus], index) => {
    const own = Math.min(gpus, guaranteed[index] ?? 0);
    return { at, own, borrowed: gpus - own };
  });
  const own = parts.map((part) => [part.at, part.own]);
  const borrowed = parts.map((part) => [part.at, part.borrowed]);
  return [
    layer(`${team} own`, own, colour),
    layer(`${team} borrowed`, borrowed, hatching(colour, colours.surface)),
  ];
}

function layer(
  id: string,
  data: number[][],
  fill: NonNullable<LineSeriesOption["areaStyle"]>["color"] & {},
): LineSeriesOption {
  return {
    id,
    type: "line",
    stack: "use",
    step: "end",
    symbol: "none",
    data,
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
    rows: uses.toReversed().map((use) => rowOf(use, index, colourOf(use.team))),
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
