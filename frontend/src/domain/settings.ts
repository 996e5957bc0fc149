/** What is said of settings, and what of a new password is wrong before anybody asks? */

import type { InstallationSetting } from "../api/types";

export interface SettingGroup {
  readonly name: string;
  readonly settings: readonly InstallationSetting[];
}

/** In the order in which they came. */
export function groupsOf(settings: readonly InstallationSetting[]): readonly SettingGroup[] {
  const names = [...new Set(settings.map(({ group }) => group))];
  return names.map((name) => ({
    name,
    settings: settings.filter(({ group }) => group === name),
  }));
}

/** Empty: nothing is wrong as far as this can be seen here. */
export function problemOf(next: string, again: string): string {
  return next === again ? "" : "The new password is not twice the same.";
}

/** `UTC+01:00`, as the reader's own clock has it now. */
export function offsetOf(now: Date): string {
  const minutes = -now.getTimezoneOffset();
  const sign = minutes < 0 ? "−" : "+";
  const parts = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${sign}${parts.map((part) => String(part).padStart(2, "0")).join(":")}`;
}
