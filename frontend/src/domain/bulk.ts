/** How is one thing done to many jobs? One by one, so that a refusal of one stops no other. */

import { ApiError, messageOf } from "../api/errors";
import type { Job } from "../api/types";
import { actionsFor, isFinal, type JobAction } from "./states";

export type BulkAction = JobAction | "label";

/** So many may be chosen, for each is a request. */
export const MOST_CHOSEN = 200;

const AT_ONCE = 4;
const MOST_TRIES = 6;
const FIRST_WAIT = 1000; // milliseconds; each further one is twice as long

export interface BulkOutcome {
  readonly job: Job;
  readonly result: "done" | "refused" | "left out";
  readonly message: string;
}

/** Those that the service would accept it for, and the others. */
export function sortedOut(
  jobs: readonly Job[],
  action: BulkAction,
): { readonly fit: readonly Job[]; readonly unfit: readonly Job[] } {
  const isFit = ({ state }: Job) =>
    action === "label" ? !isFinal(state) : actionsFor(state).includes(action);
  return { fit: jobs.filter(isFit), unfit: jobs.filter((job) => !isFit(job)) };
}

/** `2 completed, 1 failed`: why they are not among those that fit. */
export function statesOf(jobs: readonly Job[]): string {
  const counts = new Map<string, number>();
  for (const { state } of jobs) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${String(count)} ${state}`).join(", ");
}

interface Doing {
  readonly act: (job: Job) => Promise<unknown>;
  readonly tell: (outcome: BulkOutcome) => void;
  readonly isStopped: () => boolean;
  readonly wait: (milliseconds: number) => Promise<void>;
}

/** Every job gets an outcome, whatever happens to the others. */
export async function inBulk(jobs: readonly Job[], doing: Doing): Promise<void> {
  const left = [...jobs];
  const work = async () => {
    for (let job = left.shift(); job !== undefined; job = left.shift()) {
      doing.tell(await outcomeOf(job, doing));
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, jobs.length) }, work));
}

async function outcomeOf(job: Job, { act, isStopped, wait }: Doing): Promise<BulkOutcome> {
  for (let tries = 1; ; tries += 1) {
    if (isStopped()) return { job, result: "left out", message: "You stopped before it." };
    try {
      await act(job);
      return { job, result: "done", message: "" };
    } catch (error) {
      if (tries === MOST_TRIES || !mayPass(error)) {
        return { job, result: "refused", message: messageOf(error) };
      }
    }
    await wait(FIRST_WAIT * 2 ** (tries - 1));
  }
}

/** Asked too often, or the service is away for a moment. All of it may be asked twice. */
function mayPass(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status === 429 || error.status === 503;
}
