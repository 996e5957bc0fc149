/** What was written so far: it survives a reload, and ends with the tab. */

import { useCallback, useState } from "react";

const PLACE = "concertina-draft";

interface Draft {
  /** The job whose spec it began with; empty: none. */
  readonly from: string;
  readonly text: string;
}

/** The draft that began with this job; null: nothing was written of it yet. */
export function useDraft(from: string) {
  const [draft, setDraft] = useState(recall);
  const write = useCallback(
    (text: string) => {
      const written = { from, text };
      setDraft(written);
      try {
        sessionStorage.setItem(PLACE, JSON.stringify(written));
      } catch {
        // A browser that keeps nothing loses the draft with a reload, and nothing else.
      }
    },
    [from],
  );
  return [draft?.from === from ? draft.text : null, write] as const;
}

export function forgetDraft(): void {
  try {
    sessionStorage.removeItem(PLACE);
  } catch {
    // There was none.
  }
}

function recall(): Draft | null {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(PLACE) ?? "null");
    return isDraft(found) ? found : null;
  } catch {
    return null;
  }
}

function isDraft(found: unknown): found is Draft {
  return (
    typeof found === "object" &&
    found !== null &&
    "from" in found &&
    "text" in found &&
    typeof found.from === "string" &&
    typeof found.text === "string"
  );
}
