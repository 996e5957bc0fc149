/** Who used, lent and borrowed how much GPU time? Of closed hours, which never change again. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { daysAfter, type UsagePeriod } from "../domain/usagePeriod";
import { client, unwrap } from "./client";
import type { FairnessReceipt, GpuUsage, MonthReport } from "./types";

/** An hour is closed once in an hour; a page that is left open shows it soon enough. */
const CLOSED_MILLISECONDS = 300_000;
const MOST_ROWS = 1000;

/** Days and months are those of whoever looks. */
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

export interface UsageAsked {
  readonly team: string;
  readonly by: string;
  readonly period: UsagePeriod;
}

function queryOf({ team, by, period }: UsageAsked) {
  return { by, team, ...timeOf(period) };
}

function timeOf(period: UsagePeriod) {
  return { time_zone: ZONE, since: period.first, until: daysAfter(period.last, 1) };
}

/** With a `by` that is empty, nothing is asked. */
export function useGpuHours(asked: UsageAsked) {
  const query = { ...queryOf(asked), limit: MOST_ROWS };
  return useQuery({
    queryKey: ["team", asked.team, "gpu-hours", query],
    queryFn: async () => {
      const answer = await unwrap(client.GET("/api/v1/usage", { params: { query } }));
      return answer as GpuUsage; // a table comes only if one asks for it
    },
    enabled: asked.by !== "",
    refetchInterval: CLOSED_MILLISECONDS,
    placeholderData: keepPreviousData,
  });
}

const MOST_IN_TABLE = "10000";

/** Where a browser finds the same as a table. */
export function gpuHoursAddress(asked: UsageAsked): string {
  const parameters = { ...queryOf(asked), format: "csv", limit: MOST_IN_TABLE };
  return `/api/v1/usage?${new URLSearchParams(parameters).toString()}`;
}

/** Was the team given what it was owed? Of the same hours as the account of its GPU-hours. */
export function useFairnessReceipt(team: string, period: UsagePeriod) {
  const query = timeOf(period);
  return useQuery({
    queryKey: ["team", team, "fairness-receipt", query],
    queryFn: async () => {
      const asked = { params: { path: { name: team }, query } };
      const answer = await unwrap(client.GET("/api/v1/teams/{name}/fairness-receipt", asked));
      return answer as FairnessReceipt; // a table comes only if one asks for it
    },
    refetchInterval: CLOSED_MILLISECONDS,
    placeholderData: keepPreviousData,
  });
}

/** Where a browser finds its shortfalls as a table, each with its jobs. */
export function fairnessAddress(team: string, period: UsagePeriod): string {
  const parameters = new URLSearchParams({ ...timeOf(period), format: "csv" });
  return `/api/v1/teams/${encodeURIComponent(team)}/fairness-receipt?${parameters.toString()}`;
}

/** What did a month cost? `month` as 2026-10, or `latest`. Months are those of UTC, as bills are. */
export function useMonthReport(team: string, month: string) {
  return useQuery({
    queryKey: ["team", team, "report", month],
    queryFn: async () => {
      const asked = { params: { path: { name: team, month } } };
      const answer = await unwrap(client.GET("/api/v1/teams/{name}/reports/{month}", asked));
      return answer as MonthReport; // a table comes only if one asks for it
    },
    refetchInterval: CLOSED_MILLISECONDS,
  });
}

/** Where a browser finds it as a table. */
export function reportAddress(team: string, month: string): string {
  return `/api/v1/teams/${encodeURIComponent(team)}/reports/${month}?format=csv`;
}

const LOOKED_AT = 100; // jobs

/** The jobs by whose labels it can be told apart. */
export function useLabelledJobs(team: string) {
  const query = { team, order: "submitted" as const, limit: LOOKED_AT };
  return useQuery({
    queryKey: ["team", team, "labels"],
    queryFn: () => unwrap(client.GET("/api/v1/jobs", { params: { query } })),
    staleTime: CLOSED_MILLISECONDS,
  });
}
