/** What one more GPU was worth over time, with alarms, and the moment that is looked at. */

import type { Prices } from "../api/types";
import { formatMetric, formatPercent } from "../domain/format";
import { clockTime, milliseconds } from "../domain/time";
import type { TimeRange } from "../domain/timeRange";
import type { ChartColours } from "./colours";
import type { ChartOption } from "./echarts";
import { momentLine, timeAxis, timeTooltip, valueAxis } from "./frame";
import { tooltip } from "./tooltip";

export function pricesOption(
  prices: Prices,
  { from, to }: TimeRange,
  at: number | null,
  colours: ChartColours,
): ChartOption {
  const points = prices.items.map((one) => [milliseconds(one.at), one.price ?? 0] as const);
  const last = points.at(-1);
  const alarms = prices.alarms.map((alarm) => ({
    ...momentLine(milliseconds(alarm), "", colours),
    lineStyle: { color: colours.danger, type: "solid" as const, width: 1.5 },
  }));
  const here =
    at === null
      ? []
      : [
          {
            ...momentLine(at, "", colours),
            lineStyle: { color: colours.accent, type: "solid" as const, width: 2 },
          },
        ];
  return {
    animation: false,
    grid: { top: 12, bottom: 26, left: 46, right: 12 },
    xAxis: timeAxis(colours, from, to),
    yAxis: { ...valueAxis(colours, formatMetric), min: 0, splitNumber: 3 },
    tooltip: timeTooltip(colours, (moment) => priceAt(prices, moment, colours)),
    series: [
      {
        id: "price",
        type: "line",
        step: "end",
        symbol: "none",
        data: [...points, ...(last === undefined ? [] : [[to, last[1]] as const])].map(
          ([moment, price]) => [moment, price],
        ),
        lineStyle: { color: colours.accent, width: 1.5 },
        areaStyle: { color: colours.accent, opacity: 0.12 },
        emphasis: { disabled: true },
        markLine: { silent: true, animation: false, symbol: "none", data: [...alarms, ...here] },
      },
    ],
  };
}

function priceAt(prices: Prices, moment: number, colours: ChartColours): HTMLElement | null {
  const found = prices.items.findLast(({ at }) => milliseconds(at) <= moment);
  if (found === undefined) return null;
  return tooltip({
    title: clockTime(milliseconds(found.at)),
    rows: [
      { colour: colours.accent, name: "One more GPU", value: formatMetric(found.price) },
      { name: "Gap of the plan", value: formatPercent(found.gap) },
    ],
  });
}
