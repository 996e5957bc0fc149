/** What does a team say of the specs of its jobs, and with which parts of specs may they begin? */

import { useQuery } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import { PEOPLES_MILLISECONDS } from "./teams";
import type { RulesBody, TemplateBody } from "./types";
import { useChange } from "./useChange";

export function useRules(team: string) {
  return useQuery({
    queryKey: rulesOf(team),
    queryFn: () =>
      unwrap(client.GET("/api/v1/teams/{name}/rules", { params: { path: { name: team } } })),
    refetchInterval: PEOPLES_MILLISECONDS,
  });
}

export function useChangeRules(team: string, version: string) {
  return useChange(rulesOf(team), (body: RulesBody) =>
    unwrap(
      client.PATCH("/api/v1/teams/{name}/rules", {
        params: { path: { name: team }, header: { "If-Match": version } },
        body,
      }),
    ),
  );
}

/** Nothing is asked for no team. */
export function useTemplates(team: string) {
  return useQuery({
    queryKey: templatesOf(team),
    queryFn: () =>
      unwrap(client.GET("/api/v1/teams/{name}/templates", { params: { path: { name: team } } })),
    refetchInterval: PEOPLES_MILLISECONDS,
    enabled: team !== "",
  });
}

export function useAddTemplate(team: string) {
  return useChange(templatesOf(team), (body: TemplateBody) =>
    unwrap(
      client.POST("/api/v1/teams/{name}/templates", { params: { path: { name: team } }, body }),
    ),
  );
}

export function useChangeTemplate(team: string, template: string, version: number) {
  return useChange(
    templatesOf(team),
    ({ spec, description }: Pick<TemplateBody, "spec" | "description">) =>
      unwrap(
        client.PATCH("/api/v1/teams/{name}/templates/{template}", {
          params: { path: { name: team, template }, header: { "If-Match": String(version) } },
          body: { spec, description },
        }),
      ),
  );
}

export function useDeleteTemplate(team: string, template: string) {
  return useChange(templatesOf(team), () =>
    unwrap(
      client.DELETE("/api/v1/teams/{name}/templates/{template}", {
        params: { path: { name: team, template } },
      }),
    ),
  );
}

function rulesOf(team: string): string[] {
  return ["team", team, "rules"];
}

function templatesOf(team: string): string[] {
  return ["team", team, "templates"];
}
