/** Is the window too narrow for a table, so that each row becomes a card? */

import { useSyncExternalStore } from "react";

export const ROW_PIXELS = { wide: 40, narrow: 84 } as const;

const query = window.matchMedia("(width < 720px)");

function subscribe(listener: () => void): () => void {
  query.addEventListener("change", listener);
  return () => {
    query.removeEventListener("change", listener);
  };
}

export function useIsNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => query.matches);
}
