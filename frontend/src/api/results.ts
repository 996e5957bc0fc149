/** What have jobs left behind? */

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import type { ModelVersion } from "./types";

const PAGE = 100;
const LIVE_MILLISECONDS = 15_000; // a look goes through a folder on the store

/** A folder of a job's outputs, page after page; looked at again while the job runs. */
export function useOutputs(id: string, folder: string, isLive: boolean) {
  return useInfiniteQuery({
    queryKey: ["job", id, "outputs", folder],
    queryFn: ({ pageParam }) => {
      const query = { folder, limit: PAGE, ...(pageParam !== null && { cursor: pageParam }) };
      const params = { path: { job_id: id }, query };
      return unwrap(client.GET("/api/v1/jobs/{job_id}/outputs", { params }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: isLive && LIVE_MILLISECONDS,
  });
}

/** Where a browser finds a file. */
export function outputAddress(id: string, path: string): string {
  return `/api/v1/jobs/${id}/outputs/file?path=${encodeURIComponent(path)}`;
}

/** Where a browser finds a folder with all that is in it. */
export function archiveAddress(id: string, folder: string): string {
  return `/api/v1/jobs/${id}/outputs/archive?folder=${encodeURIComponent(folder)}`;
}

/** Where a browser finds all that is kept of a job's log, or of one worker's. */
export function logAddress(id: string, worker: string): string {
  const asked = worker === "" ? "" : `?worker=${encodeURIComponent(worker)}`;
  return `/api/v1/jobs/${id}/logs/file${asked}`;
}

/** Where a browser finds all points of a job's curves, as CSV. */
export function metricsAddress(id: string): string {
  return `/api/v1/jobs/${id}/metrics/table?format=csv`;
}

/** A job's checkpoints, newest first, page after page; looked at again while the job runs. */
export function useCheckpoints(id: string, isLive: boolean) {
  return useInfiniteQuery({
    queryKey: ["job", id, "checkpoints"],
    queryFn: ({ pageParam }) => {
      const query = { limit: PAGE, ...(pageParam !== null && { cursor: pageParam }) };
      const params = { path: { job_id: id }, query };
      return unwrap(client.GET("/api/v1/jobs/{job_id}/checkpoints", { params }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: isLive && LIVE_MILLISECONDS,
  });
}

/** Where a browser finds the weights of a checkpoint. */
export function weightsAddress(id: string, step: number): string {
  return `/api/v1/jobs/${id}/checkpoints/${step}/weights`;
}

/** The models of a team, each with its versions. */
export function useModels(team: string) {
  return useQuery({
    queryKey: ["team", team, "models"],
    queryFn: () =>
      unwrap(client.GET("/api/v1/teams/{name}/models", { params: { path: { name: team } } })),
  });
}

/** Where a browser finds the weights of a version of a model. */
export function modelAddress(team: string, { model, version }: ModelVersion): string {
  return `/api/v1/teams/${team}/models/${model}/versions/${version}/weights`;
}

/** What of a job goes when, because it is old. */
export function useRemovals(id: string) {
  return useQuery({
    queryKey: ["job", id, "removals"],
    queryFn: () =>
      unwrap(client.GET("/api/v1/jobs/{job_id}/removals", { params: { path: { job_id: id } } })),
  });
}
