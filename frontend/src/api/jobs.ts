/** What is known about jobs, and what can be done with one? */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { isFinal, type JobAction, type State } from "../domain/states";
import { client, unwrap } from "./client";
import type { Job, JobChanges, JobDetail } from "./types";
import { LIVE_MILLISECONDS, readOf, useLiveQuery } from "./useLiveQuery";

/** Finished jobs change no more; their last events may still arrive, and are asked for. */
const SETTLED_MILLISECONDS = 15_000;
const ADVICE_MILLISECONDS = 60_000;

export function pace(isLive: boolean): number {
  return isLive ? LIVE_MILLISECONDS : SETTLED_MILLISECONDS;
}

function ofJob(isLive: boolean) {
  return { milliseconds: pace(isLive), isLive, keepsPrevious: false };
}

function readOfJob(id: string, part: string, parameters: Readonly<Record<string, number>> = {}) {
  return readOf(`/api/v1/jobs/${id}/${part}`, parameters);
}

type Order = "submitted" | "finished";

interface Wanted {
  readonly team?: string | undefined;
  readonly order?: Order;
}

export function useJobs(states: readonly State[], limit: number, { team, order }: Wanted = {}) {
  const query = {
    state: states.join(","),
    limit,
    ...(team !== undefined && { team }),
    ...(order !== undefined && { order }),
  };
  return useLiveQuery(["jobs"], readOf("/api/v1/jobs", query), () =>
    unwrap(client.GET("/api/v1/jobs", { params: { query } })),
  );
}

/** The course of each of these jobs, in so few points that it fits into a line. */
export function useSparklines(
  states: readonly State[],
  limit: number,
  points: number,
  team?: string,
) {
  const query = {
    ...{ state: states.join(","), limit, points },
    ...(team !== undefined && { team }),
  };
  return useLiveQuery(
    ["sparklines"],
    readOf("/api/v1/jobs:sparklines", query),
    () => unwrap(client.GET("/api/v1/jobs:sparklines", { params: { query } })),
    { milliseconds: 5 * LIVE_MILLISECONDS },
  );
}

function headOf(id: string): string {
  return readOf(`/api/v1/jobs/${id}`);
}

function keyOfHead(id: string): readonly string[] {
  return ["job", id, headOf(id)];
}

/** What is shown first of a job. */
export function useJob(id: string) {
  const known = useQueryClient().getQueryData<JobDetail>(keyOfHead(id));
  return useLiveQuery(
    ["job", id],
    headOf(id),
    () => unwrap(client.GET("/api/v1/jobs/{job_id}", { params: { path: { job_id: id } } })),
    ofJob(known === undefined || !isFinal(known.state)),
  );
}

export function useGenerations(id: string, isLive: boolean) {
  return useLiveQuery(
    ["job", id],
    readOfJob(id, "generations"),
    () =>
      unwrap(client.GET("/api/v1/jobs/{job_id}/generations", { params: { path: { job_id: id } } })),
    ofJob(isLive),
  );
}

export function useMetrics(id: string, points: number, isLive: boolean) {
  return useLiveQuery(
    ["job", id],
    readOfJob(id, "metrics", { points }),
    () =>
      unwrap(
        client.GET("/api/v1/jobs/{job_id}/metrics", {
          params: { path: { job_id: id }, query: { points } },
        }),
      ),
    ofJob(isLive),
  );
}

export function useUsage(id: string, points: number, isLive: boolean) {
  return useLiveQuery(
    ["job", id],
    readOfJob(id, "usage", { points }),
    () =>
      unwrap(
        client.GET("/api/v1/jobs/{job_id}/usage", {
          params: { path: { job_id: id }, query: { points } },
        }),
      ),
    ofJob(isLive),
  );
}

export function useExplanation(id: string, isLive: boolean) {
  return useLiveQuery(
    ["job", id],
    readOfJob(id, "explain"),
    () => unwrap(client.GET("/api/v1/jobs/{job_id}/explain", { params: { path: { job_id: id } } })),
    ofJob(isLive),
  );
}

/** How many workers it needed; what is measured of a job that runs changes slowly. */
export function useSizeAdvice(id: string, isLive: boolean) {
  return useQuery({
    queryKey: ["job", id, "advice", isLive],
    queryFn: () =>
      unwrap(client.GET("/api/v1/jobs/{job_id}/advice", { params: { path: { job_id: id } } })),
    refetchInterval: isLive ? ADVICE_MILLISECONDS : false,
  });
}

export function useDependencies(id: string, isLive: boolean) {
  return useLiveQuery(
    ["job", id],
    readOfJob(id, "dependencies"),
    () =>
      unwrap(
        client.GET("/api/v1/jobs/{job_id}/dependencies", { params: { path: { job_id: id } } }),
      ),
    ofJob(isLive),
  );
}

export function useWorkers(id: string, isLive: boolean) {
  return useLiveQuery(
    ["job", id],
    readOfJob(id, "workers"),
    () => unwrap(client.GET("/api/v1/jobs/{job_id}/workers", { params: { path: { job_id: id } } })),
    ofJob(isLive),
  );
}

export function useEvents(id: string, isLive: boolean) {
  return useLiveQuery(
    ["job", id],
    readOfJob(id, "events"),
    () => unwrap(client.GET("/api/v1/jobs/{job_id}/events", { params: { path: { job_id: id } } })),
    ofJob(isLive),
  );
}

/** Pause, resume or cancel; the answer is shown at once, the rest follows with the next poll. */
export function useJobAction(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ action, reason }: { action: JobAction; reason: string }) =>
      unwrap(steer(id, action, reason)),
    onSuccess: (job: Job) => {
      queries.setQueryData(keyOfHead(id), job);
      return queries.invalidateQueries({ queryKey: ["job", id] });
    },
  });
}

/** Change what a live job asks for; refused if somebody has changed it since it was shown. */
export function useChangeJob(id: string, version?: number) {
  const queries = useQueryClient();
  const header = version === undefined ? {} : { "If-Match": String(version) };
  return useMutation({
    mutationFn: (changes: JobChanges) =>
      unwrap(
        client.PATCH("/api/v1/jobs/{job_id}", {
          params: { path: { job_id: id }, header },
          body: changes,
        }),
      ),
    onSuccess: (job: JobDetail) => {
      queries.setQueryData(keyOfHead(id), job);
      return queries.invalidateQueries({ queryKey: ["job", id] });
    },
  });
}

/** Submit a job's spec once more; the answer is the new job. */
/** With a part of the spec that is to be another one; empty: the same. */
export function useRerun(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (changes: Record<string, unknown>) =>
      unwrap(
        client.POST("/api/v1/jobs/{job_id}/rerun", {
          params: { path: { job_id: id } },
          body: changes,
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["jobs"] }),
  });
}

/** Keep all of a job whatever its age, or let it go when its time has come. */
export function usePin(id: string) {
  const queries = useQueryClient();
  const options = { params: { path: { job_id: id } } };
  return useMutation({
    mutationFn: (isPinned: boolean) =>
      unwrap(
        isPinned
          ? client.POST("/api/v1/jobs/{job_id}/pin", options)
          : client.POST("/api/v1/jobs/{job_id}/unpin", options),
      ),
    onSuccess: (job: JobDetail) => {
      queries.setQueryData(keyOfHead(id), job);
      return queries.invalidateQueries({ queryKey: ["job", id] });
    },
  });
}

/** Forget a job that is over, with all it left behind. */
export function useDeleteJob(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () =>
      unwrap(client.DELETE("/api/v1/jobs/{job_id}", { params: { path: { job_id: id } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["jobs"] }),
  });
}

export function steer(id: string, action: JobAction, reason: string) {
  const options = { params: { path: { job_id: id } }, body: { reason } };
  switch (action) {
    case "pause":
      return client.POST("/api/v1/jobs/{job_id}/pause", options);
    case "resume":
      return client.POST("/api/v1/jobs/{job_id}/resume", options);
    case "cancel":
      return client.POST("/api/v1/jobs/{job_id}/cancel", options);
  }
}
