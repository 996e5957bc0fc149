/** To which row does a key lead? Null: to none. */

export function rowAfter(
  key: string,
  row: number,
  rows: number,
  rowsPerScreen: number,
): number | null {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: rowsPerScreen,
    PageUp: -rowsPerScreen,
    Home: -rows,
    End: rows,
  };
  const step = steps[key];
  if (step === undefined) return null;
  return Math.min(rows - 1, Math.max(0, row + step));
}
