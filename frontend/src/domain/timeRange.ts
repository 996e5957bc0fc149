/** Of which time does a page tell? The last hour as it goes on, or a time that is over. */

export interface TimeRange {
  readonly from: number;
  readonly to: number;
  /** Whether it goes on with the clock. */
  readonly isLive: boolean;
}

const HOUR = 3_600_000;
const DUSK = 20; // o'clock
const DAWN = 8;
const LONGEST = 31 * 24 * HOUR; // that the service answers for

export function rangeOf(from: string, to: string, now: number): TimeRange {
  const [begin, end] = [Date.parse(from), Date.parse(to)];
  const isGood = begin < end && end - begin <= LONGEST;
  return isGood
    ? { from: begin, to: end, isLive: false }
    : { from: now - HOUR, to: now, isLive: true };
}

export type Preset = "hour" | "six-hours" | "night" | "day";

export const PRESETS: readonly { readonly value: Preset; readonly text: string }[] = [
  { value: "hour", text: "Last hour" },
  { value: "six-hours", text: "6 h" },
  { value: "day", text: "24 h" },
  { value: "night", text: "Last night" },
];

/** What the address says of it; both empty for what goes on. */
export function addressOf(preset: Preset, now: number): { from: string; to: string } {
  switch (preset) {
    case "hour":
      return { from: "", to: "" };
    case "six-hours":
      return written(now - 6 * HOUR, now);
    case "day":
      return written(now - 24 * HOUR, now);
    case "night":
      return lastNight(now);
  }
}

/** The night that ended last, by the reader's clock. */
function lastNight(now: number): { from: string; to: string } {
  const dawn = new Date(now);
  dawn.setHours(DAWN, 0, 0, 0);
  if (dawn.getTime() > now) dawn.setDate(dawn.getDate() - 1);
  const dusk = new Date(dawn);
  dusk.setDate(dusk.getDate() - 1);
  dusk.setHours(DUSK, 0, 0, 0);
  return written(dusk.getTime(), dawn.getTime());
}

/** As long a time, before or after it. */
export function shifted({ from, to }: TimeRange, ways: -1 | 1): { from: string; to: string } {
  const span = (to - from) * ways;
  return written(from + span, to + span);
}

function written(from: number, to: number): { from: string; to: string } {
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}
