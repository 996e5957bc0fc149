/** The metric of all trials over their training: the best stands out, those that are out are grey. */

import { formatMetric } from "../domain/format";
import { isOutOfIt, valuesText, type TrialLine } from "../domain/sweeps";
import type { ChartColours } from "./colours";
import type { ChartOption } from "./echarts";
import { countAxis, momentLine, timeTooltip, valueAxis } from "./frame";
import { tooltip } from "./tooltip";

export interface SweepChartInput {
  readonly lines: readonly TrialLine[];
  readonly rungs: readonly number[];
  readonly resource: string;
  readonly metric: string;
  readonly colours: ChartColours;
}

const MOST_IN_TOOLTIP = 8;

export function sweepOption(input: SweepChartInput): ChartOption {
  const { lines, rungs, colours } = input;
  const places = lines.flatMap(({ points }) => points.map(([place]) => place));
  const axis = countAxis(colours, 0, Math.max(...places, ...rungs, 0));
  const ordered = lines.toSorted((one, other) => height(one) - height(other));
  return {
    animation: false,
    grid: { top: 22, bottom: 26, left: 52, right: 16 },
    xAxis: { ...axis, axisLabel: { ...axis.axisLabel, formatter: formatMetric } },
    yAxis: { ...valueAxis(colours, formatMetric), scale: true, splitNumber: 4 },
    tooltip: timeTooltip(colours, (place) => valuesAt(input, place)),
    series: ordered.map((line, which) => ({
      id: line.trial.id,
      type: "line",
      data: line.points.map(([place, value]) => [place, value]),
      symbol: line.points.length === 1 ? "circle" : "none",
      lineStyle: {
        color: colourOf(line, colours),
        width: line.trial.is_best ? 3 : 1.5,
        opacity: isOutOfIt(line.trial) ? 0.45 : 1,
      },
      itemStyle: { color: colourOf(line, colours) },
      emphasis: { disabled: true },
      ...(which === 0 && {
        markLine: {
          silent: true,
          symbol: "none",
          data: rungs.map((rung, number) =>
            momentLine(rung, `rung ${String(number + 1)}`, colours),
          ),
        },
      }),
    })),
  };
}

/** The best is drawn last, above all others, and grey ones first. */
function height({ trial }: TrialLine): number {
  if (trial.is_best) return 2;
  return isOutOfIt(trial) ? 0 : 1;
}

function colourOf({ trial }: TrialLine, colours: ChartColours): string {
  if (trial.is_best) return colours.accent;
  return isOutOfIt(trial) ? colours.muted : colours.busy;
}

/** Of each trial the value that it had last at this place; nothing where it did not get so far. */
function valuesAt({ lines, resource, metric, colours }: SweepChartInput, place: number) {
  const rows = lines.flatMap((line) => {
    const point = line.points.findLast(([before]) => before <= place);
    const hasEnded = (line.points.at(-1)?.[0] ?? -Infinity) < place;
    if (point === undefined || hasEnded) return [];
    const name = `${String(line.trial.number)}: ${valuesText(line.trial)}`;
    return [{ colour: colourOf(line, colours), name, value: formatMetric(point[1]) }];
  });
  if (rows.length === 0) return null;
  const more = rows.length - MOST_IN_TOOLTIP;
  return tooltip({
    title: `${metric} after ${formatMetric(place)} ${resource}`,
    rows: rows.slice(0, MOST_IN_TOOLTIP),
    ...(more > 0 && { text: `and ${String(more)} more` }),
  });
}
