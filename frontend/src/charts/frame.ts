/** What do all charts have in common? Quiet axes, and a tooltip that looks like the rest. */

import { formatCount } from "../domain/format";
import { axisTime } from "../domain/time";
import type { ChartColours } from "./colours";

export const FONT_SIZE = 11;

export function timeAxis(colours: ChartColours, from: number, to: number) {
  return {
    type: "time" as const,
    min: from,
    max: to,
    axisLine: { lineStyle: { color: colours.border } },
    axisTick: { show: false },
    axisLabel: {
      color: colours.muted,
      fontSize: FONT_SIZE,
      hideOverlap: true,
      formatter: (at: number) => axisTime(at, to - from),
    },
    splitLine: { show: false },
    splitNumber: 5,
  };
}

/** Of steps or samples. */
export function countAxis(colours: ChartColours, from: number, to: number) {
  const { axisLabel, ...axis } = timeAxis(colours, from, to);
  return { ...axis, type: "value" as const, axisLabel: { ...axisLabel, formatter: formatCount } };
}

export function valueAxis(colours: ChartColours, formatter?: (value: number) => string) {
  return {
    type: "value" as const,
    axisLine: { show: false },
    axisTick: { show: false },
    axisLabel: {
      color: colours.muted,
      fontSize: FONT_SIZE,
      ...(formatter === undefined ? {} : { formatter }),
    },
    splitLine: { lineStyle: { color: colours.grid } },
  };
}

/** `render` gets the time under the pointer and answers with what to show, or null for nothing. */
export function timeTooltip(colours: ChartColours, render: (at: number) => HTMLElement | null) {
  return {
    trigger: "axis" as const,
    confine: true,
    transitionDuration: 0,
    backgroundColor: colours.surface,
    borderColor: colours.border,
    padding: [9, 12],
    textStyle: { color: colours.text, fontSize: 12 },
    extraCssText: "border-radius: 8px; max-width: 320px; white-space: normal;",
    axisPointer: { lineStyle: { color: colours.muted, type: "solid" as const, opacity: 0.5 } },
    formatter: (parameters: unknown) => {
      const at = timeUnderPointer(parameters);
      return (at === null ? null : render(at)) ?? "";
    },
  };
}

function timeUnderPointer(parameters: unknown): number | null {
  const first: unknown = Array.isArray(parameters) ? parameters[0] : parameters;
  if (typeof first !== "object" || first === null) return null;
  if ("axisValue" in first && typeof first.axisValue === "number") return first.axisValue;
  return null;
}

/** A vertical line that marks a moment, with a word at its top. */
export function momentLine(at: number, word: string, colours: ChartColours) {
  return {
    xAxis: at,
    label: {
      show: word !== "",
      formatter: word,
      position: "end" as const,
      color: colours.muted,
      fontSize: 10,
      distance: 3,
    },
    lineStyle: { color: colours.border, type: "dashed" as const, width: 1 },
  };
}
