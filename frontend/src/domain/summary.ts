/** How did a figure move against the window before? */

export type Direction = "better" | "worse" | "same";

export interface Movement {
  readonly text: string;
  readonly direction: Direction;
}

/** Changes below this share are noise. */
const NOISE = 0.005;

/** For times, where less is better; null when there is nothing to compare with. */
export function movementOfTime(now: number | null, before: number | null): Movement | null {
  if (now === null || before === null || before <= 0) return null;
  const change = now / before - 1;
  if (Math.abs(change) < NOISE) return { text: "unchanged", direction: "same" };
  const percent = Math.max(1, Math.round(Math.abs(change) * 100));
  return change < 0
    ? { text: `${percent} % shorter`, direction: "better" }
    : { text: `${percent} % longer`, direction: "worse" };
}
