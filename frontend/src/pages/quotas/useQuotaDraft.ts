/** What was written of a pool's guarantees, and what was saved last: both survive a reload. */

import { useCallback, useState } from "react";

import type { GuaranteeChange, QuotaDraft } from "../../domain/quotas";

const PLACE = "concertina-quotas";

interface Kept {
  readonly pool: string;
  readonly draft: QuotaDraft;
  readonly days: number;
  /** The preview that was asked for last; empty: none. */
  readonly preview: string;
  readonly lastSaved: readonly GuaranteeChange[];
}

export function useQuotaDraft(pool: string) {
  const [found, setFound] = useState(recall);
  const kept = found?.pool === pool ? found : beginning(pool);
  const keep = useCallback(
    (changes: Partial<Kept>) => {
      setFound((before) => {
        const now = { ...(before?.pool === pool ? before : beginning(pool)), ...changes };
        try {
          sessionStorage.setItem(PLACE, JSON.stringify(now));
        } catch {
          // A browser that keeps nothing loses the draft with a reload, and nothing else.
        }
        return now;
      });
    },
    [pool],
  );
  return [kept, keep] as const;
}

function beginning(pool: string): Kept {
  return { pool, draft: {}, days: 7, preview: "", lastSaved: [] };
}

function recall(): Kept | null {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(PLACE) ?? "null");
    return isKept(found) ? found : null;
  } catch {
    return null;
  }
}

function isKept(found: unknown): found is Kept {
  return (
    typeof found === "object" &&
    found !== null &&
    "pool" in found &&
    typeof found.pool === "string" &&
    "draft" in found &&
    typeof found.draft === "object" &&
    found.draft !== null &&
    "days" in found &&
    typeof found.days === "number" &&
    "preview" in found &&
    typeof found.preview === "string" &&
    "lastSaved" in found &&
    Array.isArray(found.lastSaved)
  );
}
