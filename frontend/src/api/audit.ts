/** Who did what, and who was refused? A page of the audit log at a time, the newest first. */

import { useInfiniteQuery } from "@tanstack/react-query";

import type { AuditQuery } from "../domain/audit";
import { client, unwrap } from "./client";
import { PEOPLES_MILLISECONDS } from "./teams";
import type { AuditPage } from "./types";

const PAGE = 100;

export function useAuditEntries(query: AuditQuery) {
  return useInfiniteQuery({
    queryKey: ["audit", query],
    queryFn: async ({ pageParam }): Promise<AuditPage> => {
      const asked = { ...query, limit: PAGE, cursor: pageParam };
      const page = await unwrap(client.GET("/api/v1/audit", { params: { query: asked } }));
      return typeof page === "string" ? { items: [], next_cursor: null } : page; // no table is asked for
    },
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => next_cursor,
    staleTime: PEOPLES_MILLISECONDS,
  });
}

/** Where all of it lies as a table, up to what the service gives at once. */
export function auditTable(query: AuditQuery): string {
  const asked = new URLSearchParams({ ...query, limit: "1000", format: "csv" });
  return `/api/v1/audit?${asked.toString()}`;
}
