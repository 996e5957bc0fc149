/** A day as a field has it, as in 2026-11-28: the reader's, which begins where they are. */

const DAY = /^[1-9]\d{3}-\d{2}-\d{2}$/;
const LAST_DAY = "9999-12-30"; // behind which no service can count

/** The text if it is a day, else nothing. */
export function dayOf(text: string): string {
  return DAY.test(text) && text <= LAST_DAY && !Number.isNaN(Date.parse(`${text}T00:00:00`))
    ? text
    : "";
}

/** When a day begins here, or the one so many days later; null: none was given. */
export function startOfDay(day: string, later = 0): string | null {
  if (day === "") return null;
  const start = new Date(`${day}T00:00:00`);
  start.setDate(start.getDate() + later);
  return start.toISOString();
}
