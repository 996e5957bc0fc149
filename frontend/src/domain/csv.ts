/** How is a table written so that other programs read it? As CSV, by RFC 4180. */

export type CsvValue = string | number | null;

export function csvOf(header: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [header, ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("");
}

/** A spreadsheet takes text for a formula that begins like one; a quote before it tells. */
function cell(value: CsvValue): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
