/** How fast was a job with how many workers: measured, as the model says, and if none was wasted? */

import type { SizeAdvice, TriedSize } from "../api/types";
import { formatCount, formatPercent, formatRate, plural } from "../domain/format";
import type { ChartColours } from "./colours";
import type { ChartOption, LineSeriesOption } from "./echarts";
import { FONT_SIZE, momentLine, timeTooltip, valueAxis } from "./frame";
import { tooltip } from "./tooltip";

export const SCALING_HEIGHT = 230;

type Point = [workers: number, rate: number];

export function scalingOption(
  advice: SizeAdvice,
  colour: string,
  colours: ChartColours,
): ChartOption {
  const { sizes, knee } = advice;
  const measured = sizes.flatMap(({ workers, samples_per_second: rate }): Point[] =>
    rate === null ? [] : [[workers, rate]],
  );
  const predicted = sizes.flatMap(({ workers, predicted_samples_per_second: rate }): Point[] =>
    rate === null ? [] : [[workers, rate]],
  );
  const most = Math.max(...sizes.map(({ workers }) => workers), 1);
  return {
    animation: false,
    grid: { top: 30, bottom: 26, left: 52, right: 16 },
    xAxis: {
      ...valueAxis(colours),
      min: 0,
      max: most,
      minInterval: 1,
      axisLine: { lineStyle: { color: colours.border } },
      splitLine: { show: false },
    },
    yAxis: {
      ...valueAxis(colours, formatCount),
      min: 0,
      max: roundAbove(Math.max(...measured.map(([, rate]) => rate), 1) * 1.1),
      splitNumber: 4,
      name: "Samples/s",
      nameGap: 12,
      nameTextStyle: { color: colours.muted, fontSize: FONT_SIZE },
    },
    tooltip: timeTooltip(colours, (workers) => sizeNear(sizes, workers, colour, colours)),
    series: [
      {
        ...line("ideal", idealOf(measured, most), colours.muted),
        lineStyle: { color: colours.muted, width: 1, type: "dotted" },
        clip: true,
      },
      {
        ...line("predicted", predicted, colours.muted),
        lineStyle: { color: colours.muted, width: 1.5, type: "dashed" },
      },
      {
        ...line("measured", measured, colour),
        symbol: "circle",
        symbolSize: 8,
        showSymbol: true,
        itemStyle: { color: colour },
        lineStyle: { color: colour, width: 2 },
        markLine: {
          silent: true,
          animation: false,
          symbol: "none",
          data: knee === null ? [] : [momentLine(knee, `knee: ${plural(knee, "worker")}`, colours)],
        },
      },
    ],
  };
}

function line(id: string, data: Point[], colour: string): LineSeriesOption {
  return {
    id,
    type: "line",
    symbol: "none",
    data,
    itemStyle: { color: colour },
    emphasis: { disabled: true },
  };
}

/** The next number with one digit and a half: 285 becomes 300, and 0.12 becomes 0.15. */
function roundAbove(rate: number): number {
  const half = 10 ** Math.floor(Math.log10(rate)) / 2;
  return Math.ceil(rate / half) * half;
}

/** If each worker brought as much as one of the first. */
function idealOf([first]: readonly Point[], most: number): Point[] {
  if (first === undefined) return [];
  return [
    [0, 0],
    [most, (first[1] / first[0]) * most],
  ];
}

function sizeNear(
  sizes: readonly TriedSize[],
  at: number,
  colour: string,
  colours: ChartColours,
): HTMLElement | null {
  const found = sizes.find(({ workers }) => workers === Math.round(at));
  if (found === undefined) return null;
  const { samples_per_second: measured, predicted_samples_per_second: predicted } = found;
  return tooltip({
    title: plural(found.workers, "worker"),
    rows: [
      ...(measured === null ? [] : [{ colour, name: "Measured", value: formatRate(measured) }]),
      ...(predicted === null
        ? []
        : [{ colour: colours.muted, name: "Model", value: formatRate(predicted) }]),
      { name: "Efficiency", value: formatPercent(found.efficiency) },
      { name: "The last GPU brings", value: formatPercent(found.gain_of_last_gpu) },
    ],
  });
}
