/** What is each team guaranteed, who may change that, and what would a change have meant? */

import { useMutation, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";

import type { GuaranteeChange } from "../domain/quotas";
import { mayDoIt } from "../domain/roles";
import { client, unwrap } from "./client";
import { PEOPLES_MILLISECONDS } from "./teams";
import type { QuotaPreview, TeamStanding } from "./types";

const POLL_MILLISECONDS = 1000;
const MOST_CHANGES_TOLD = 10;

/** The teams above in which the reader may divide a guarantee; an admin may everywhere. */
export function useDividedTeams(
  teams: readonly TeamStanding[],
  isAdmin: boolean,
): ReadonlySet<string> {
  const mine = new Set(teams.filter(({ is_mine }) => is_mine).map(({ name }) => name));
  const parents = [...new Set(teams.map(({ parent }) => parent))].filter(
    (parent): parent is string => parent !== null && mine.has(parent),
  );
  const asked = useQueries({
    queries: parents.map((name) => ({
      queryKey: ["team", name, "members"],
      queryFn: () =>
        unwrap(client.GET("/api/v1/teams/{name}/members", { params: { path: { name } } })),
      enabled: !isAdmin,
      staleTime: PEOPLES_MILLISECONDS,
    })),
  });
  return new Set(parents.filter((_, place) => mayDoIt(asked[place]?.data, "divide_quotas")));
}

export interface PreviewWish {
  readonly pool: string;
  readonly changes: readonly GuaranteeChange[];
  readonly days: number;
}

export function useAskPreview() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ pool, changes, days }: PreviewWish) =>
      unwrap(
        client.POST("/api/v1/quota-previews", {
          body: {
            quotas: changes.map(({ team, after }) => ({ team, pool, guaranteed_gpus: after })),
            days,
          },
        }),
      ),
    onSuccess: (made) => {
      queries.setQueryData(["quota preview", made.id], made);
    },
  });
}

/** Asked each second until it has ended. */
export function usePreview(id: string) {
  return useQuery({
    queryKey: ["quota preview", id],
    queryFn: () =>
      unwrap(
        client.GET("/api/v1/quota-previews/{preview_id}", { params: { path: { preview_id: id } } }),
      ),
    enabled: id !== "",
    refetchInterval: ({ state }) => (isLive(state.data) ? POLL_MILLISECONDS : false),
  });
}

/** True while a replay waits or runs. */
export function isLive(replay: Pick<QuotaPreview, "state"> | undefined): boolean {
  return replay?.state === "queued" || replay?.state === "running";
}

export function useCancelPreview(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () =>
      unwrap(
        client.POST("/api/v1/quota-previews/{preview_id}/cancel", {
          params: { path: { preview_id: id } },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ["quota preview", id] }),
  });
}

/** A change that was refused, after those that were saved. */
export class NotSaved extends Error {
  readonly saved: readonly GuaranteeChange[];
  readonly refused: GuaranteeChange;
  override readonly cause: unknown;

  constructor(saved: readonly GuaranteeChange[], refused: GuaranteeChange, cause: unknown) {
    super("A change was refused.");
    this.saved = saved;
    this.refused = refused;
    this.cause = cause;
  }
}

/** Save one after the other, in the order in which they are given; the first refusal ends it. */
export function useSaveGuarantees(pool: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (changes: readonly GuaranteeChange[]) => {
      const saved: GuaranteeChange[] = [];
      for (const change of changes) {
        try {
          await unwrap(
            client.PATCH("/api/v1/teams/{name}/quotas/{pool}", {
              params: { path: { name: change.team, pool } },
              body: { guaranteed_gpus: change.after },
            }),
          );
        } catch (error) {
          throw new NotSaved(saved, change, error);
        }
        saved.push(change);
      }
      return saved;
    },
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ["teams"] });
      await queries.invalidateQueries({ queryKey: ["quota history"] });
    },
  });
}

/** Who changed quotas lately; only admins read that of all teams. */
export function useQuotaHistory() {
  return useQuery({
    queryKey: ["quota history"],
    queryFn: async () => {
      const page = await unwrap(
        client.GET("/api/v1/audit", {
          params: {
            query: { operation: "change_quota", outcome: "done", limit: MOST_CHANGES_TOLD },
          },
        }),
      );
      return typeof page === "string" ? [] : page.items;
    },
    refetchInterval: PEOPLES_MILLISECONDS,
  });
}
