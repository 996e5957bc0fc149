/** Which theme is on? The system's unless a person chose one; kept in this browser. */

import { useSyncExternalStore } from "react";

export type ThemeChoice = "system" | "light" | "dark";
export type Theme = "light" | "dark";

const STORAGE_KEY = "concertina.theme";
const listeners = new Set<() => void>();
const systemIsDark = window.matchMedia("(prefers-color-scheme: dark)");
systemIsDark.addEventListener("change", announce);

function announce(): void {
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function choice(): ThemeChoice {
  const chosen = document.documentElement.dataset.theme;
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

function shown(): Theme {
  const chosen = choice();
  if (chosen !== "system") return chosen;
  return systemIsDark.matches ? "dark" : "light";
}

export function chooseTheme(theme: ThemeChoice): void {
  document.documentElement.dataset.theme = theme;
  localStorage.setItem(STORAGE_KEY, theme);
  announce();
}

export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore(subscribe, choice);
}

/** The theme that is on screen. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, shown);
}
