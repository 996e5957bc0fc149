/** Of which time is the account of GPU-hours? It stands in the page's address, to be sent. */

export interface UsagePeriod {
  /** The first day, and the last one; both as 2026-11-28. */
  readonly first: string;
  readonly last: string;
  /** How it is called. */
  readonly text: string;
  /** What its chart tells apart: a year has too many days. */
  readonly by: "day" | "month";
}

/** What the service tells apart by day in any time zone, and how long its answers are at most. */
const MOST_DAYS_BY_DAY = 93;
const MOST_DAYS = 1100;
const USUAL_DAYS = 30;
const MONTHS_OFFERED = 12;

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

const inWords = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric" });
const dayInWords = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });

/** What the address says; what it cannot mean is the last days. `today` is a day here. */
export function periodOf(address: URLSearchParams, today: string): UsagePeriod {
  const month = address.get("month") ?? "";
  if (MONTH.test(month)) return monthPeriod(month);
  const [since, until] = [dayOf(address.get("since")), dayOf(address.get("until"))];
  if (since === "" && until === "") {
    return period(daysAfter(today, 1 - USUAL_DAYS), today, `Last ${USUAL_DAYS} days`);
  }
  const last = until === "" ? today : until;
  const first = since === "" ? daysAfter(last, 1 - USUAL_DAYS) : since;
  const [from, to] = first <= last ? [first, last] : [last, first];
  const earliest = daysAfter(to, 1 - MOST_DAYS);
  const begins = from < earliest ? earliest : from;
  return period(begins, to, `${dayWords(begins)} – ${dayWords(to)}`);
}

function monthPeriod(month: string): UsagePeriod {
  const next = new Date(`${month}-01T00:00:00`);
  next.setMonth(next.getMonth() + 1);
  return period(`${month}-01`, daysAfter(dayText(next), -1), monthWords(month));
}

function period(first: string, last: string, text: string): UsagePeriod {
  return { first, last, text, by: daysIn(first, last) > MOST_DAYS_BY_DAY ? "month" : "day" };
}

/** The last months, this one first, as the address has them. */
export function monthsBefore(today: string): readonly { month: string; text: string }[] {
  const first = new Date(`${today.slice(0, 7)}-01T00:00:00`);
  return Array.from({ length: MONTHS_OFFERED }, () => {
    const month = dayText(first).slice(0, 7);
    first.setMonth(first.getMonth() - 1);
    return { month, text: monthWords(month) };
  });
}

/** The address with a month, days, or neither; its other parameters stay. */
export function addressOfPeriod(
  address: URLSearchParams,
  wanted: { readonly month?: string; readonly since?: string; readonly until?: string },
): URLSearchParams {
  const written = new URLSearchParams(address);
  for (const name of ["month", "since", "until"] as const) {
    const value = wanted[name] ?? "";
    if (value === "") written.delete(name);
    else written.set(name, value);
  }
  return written;
}

export function dayText(moment: Date): string {
  const parts = [moment.getFullYear(), moment.getMonth() + 1, moment.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}

export function daysAfter(day: string, days: number): string {
  const moment = new Date(`${day}T12:00:00`);
  moment.setDate(moment.getDate() + days);
  return dayText(moment);
}

function daysIn(first: string, last: string): number {
  return Math.round((Date.parse(last) - Date.parse(first)) / 86_400_000) + 1;
}

function dayOf(text: string | null): string {
  return text !== null && DAY.test(text) && !Number.isNaN(Date.parse(text)) ? text : "";
}

function monthWords(month: string): string {
  return inWords.format(new Date(`${month}-01T12:00:00`));
}

function dayWords(day: string): string {
  return dayInWords.format(new Date(`${day}T12:00:00`));
}
