/** How is a number written for people? Short, with its unit, and never wider than it must be. */

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const significant = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

export const NONE = "–";

/** Two units at most: `0.08 s`, `42 s`, `3 min 12 s`, `2 h 5 min`, `3 d 4 h`. */
export function formatDuration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return NONE;
  if (seconds < 1) return `${seconds.toFixed(2)} s`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return twoUnits(whole, 60, "min", 1, "s");
  const minutes = Math.round(seconds / 60);
  if (minutes < 24 * 60) return twoUnits(minutes, 60, "h", 1, "min");
  return twoUnits(Math.round(seconds / 3600), 24, "d", 1, "h");
}

/** Of a step, most of which are short: `8.4 ms`, `120 ms`, `1.5 s`. */
export function formatStep(seconds: number): string {
  if (seconds >= 1) return formatDuration(seconds);
  return `${significant.format(seconds * 1000)} ms`;
}

function twoUnits(
  amount: number,
  perLarge: number,
  large: string,
  perSmall: number,
  small: string,
): string {
  const head = Math.floor(amount / perLarge);
  const rest = Math.floor((amount % perLarge) / perSmall);
  return rest === 0 ? `${head} ${large}` : `${head} ${large} ${rest} ${small}`;
}

/** `9,812`, `12.3K`: exact while that is short. */
export function formatCount(count: number | null | undefined): string {
  if (count === null || count === undefined) return NONE;
  return Math.abs(count) < 10_000 ? grouped.format(count) : compact.format(count);
}

/** Three significant digits, for losses, speed-ups and prices. */
export function formatMetric(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  const magnitude = Math.abs(value);
  if (magnitude >= 10_000) return compact.format(value);
  if (magnitude !== 0 && magnitude < 0.001) return value.toExponential(1);
  return significant.format(value);
}

export function formatPercent(share: number | null | undefined): string {
  if (share === null || share === undefined) return NONE;
  const percent = share * 100;
  // Never claim the whole before it is the whole.
  const shown = share < 1 ? Math.min(99, Math.floor(percent)) : Math.round(percent);
  return `${shown} %`;
}

/** A part of what is whole by now: rounded, so that all parts come near to 100 %. */
export function formatShare(share: number): string {
  if (share > 0 && share < 0.005) return "< 1 %";
  if (share >= 0.995 && share < 1) return "> 99 %";
  return `${Math.round(share * 100)} %`;
}

export function formatRate(samplesPerSecond: number): string {
  return `${formatCount(Math.round(samplesPerSecond))} samples/s`;
}

export function formatGpuTime(gpuSeconds: number): string {
  if (gpuSeconds < 60) return `${formatMetric(gpuSeconds)} GPU-s`;
  if (gpuSeconds < 3600) return `${formatMetric(gpuSeconds / 60)} GPU-min`;
  return `${formatMetric(gpuSeconds / 3600)} GPU-h`;
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** `512 B`, `43.1 MiB`: as the command line writes it. */
export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
  return `${significant.format(bytes / 1024 ** power)} ${UNITS[power]}`;
}

/** `loss` of `train/loss` and `train_loss` alike reads better in a chart's heading. */
export function humanise(code: string): string {
  const words = code.replaceAll(/[_/-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** `1 job`, `3 jobs`. */
export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** `1 GPU`, `2.5 GPUs`. */
export function formatGpus(gpus: number): string {
  return `${formatMetric(gpus)} ${gpus === 1 ? "GPU" : "GPUs"}`;
}

const inAccounts = new Intl.NumberFormat("en", {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

/** GPU-hours of an account, which are not rounded to what a glance needs: `1,234.5`, `0.2`, `0`. */
export function formatGpuHours(gpuHours: number): string {
  if (gpuHours === 0) return "0";
  return gpuHours < 0.05 ? "< 0.1" : inAccounts.format(gpuHours);
}
