/** Which jobs has somebody chosen to do one thing to all of them? */

import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";

import type { Job } from "../../api/types";
import { MOST_CHOSEN } from "../../domain/bulk";
import type { JobQuery } from "../../domain/jobFilter";
import { readFirst, type OpenedList } from "./useJobList";

export interface Chosen {
  readonly jobs: readonly Job[];
  readonly has: (id: string) => boolean;
  /** Choose a row or no longer; with those since the last one, if it is a range. */
  readonly toggle: (row: number, isRange: boolean) => void;
  readonly isAll: boolean;
  readonly isReading: boolean;
  readonly toggleAll: () => void;
  readonly set: (jobs: readonly Job[]) => void;
  /** What somebody should know of what was chosen; empty: nothing. */
  readonly notice: string;
}

interface Choice {
  readonly of: string; // the key of a list
  readonly jobs: ReadonlyMap<string, Job>;
  readonly notice: string;
}

/** Nothing is chosen of another list: nobody would see what it is. */
export function useChosen(
  { key, pages }: OpenedList,
  query: JobQuery,
  total: number | undefined,
): Chosen {
  const queries = useQueryClient();
  const nothing: Choice = { of: key, jobs: new Map(), notice: "" };
  const [choice, setChoice] = useState(nothing);
  const [isReading, setIsReading] = useState(false);
  const lastRow = useRef<number | null>(null);
  const { jobs: chosen, notice } = choice.of === key ? choice : nothing;
  const choose = (jobs: readonly Job[], said = "") => {
    const kept = jobs.slice(0, MOST_CHOSEN);
    setChoice({ of: key, jobs: new Map(kept.map((job) => [job.id, job])), notice: said });
  };
  const set = (jobs: readonly Job[]) => {
    choose(jobs, jobs.length > MOST_CHOSEN ? `At most ${MOST_CHOSEN} can be chosen.` : "");
  };
  const toggle = (row: number, isRange: boolean) => {
    const from = isRange && lastRow.current !== null ? lastRow.current : row;
    lastRow.current = row;
    const [first, last] = [Math.min(from, row), Math.max(from, row)];
    const rows = Array.from({ length: last - first + 1 }, (_, place) => first + place);
    const jobs = rows.flatMap((one) => pages.at(one) ?? []);
    const isOn = !chosen.has(pages.at(row)?.id ?? "");
    const others = [...chosen.values()].filter(({ id }) => jobs.every((job) => job.id !== id));
    set(isOn ? [...others, ...jobs] : others);
  };
  const isAll = chosen.size > 0 && chosen.size === Math.min(total ?? Infinity, MOST_CHOSEN);
  const toggleAll = () => {
    if (isAll) {
      set([]);
      return;
    }
    setIsReading(true);
    readFirst(queries, query, MOST_CHOSEN)
      .then((jobs) => {
        choose(jobs, (total ?? 0) > MOST_CHOSEN ? `The first ${MOST_CHOSEN} of the list.` : "");
      })
      .catch(() => {
        choose([], "They could not be read. Try again.");
      })
      .finally(() => {
        setIsReading(false);
      });
  };
  return {
    jobs: [...chosen.values()],
    has: (id) => chosen.has(id),
    toggle,
    isAll,
    isReading,
    toggleAll,
    set,
    notice,
  };
}
