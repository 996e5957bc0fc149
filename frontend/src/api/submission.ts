/** What does a form for jobs ask the service: its schema, what would become of a spec, and a job? */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { hasArray, withinSpec } from "../domain/specText";
import { NewestAnswer } from "../domain/newestAnswer";
import type { Schemas } from "../domain/specSchema";
import { client, unwrap } from "./client";
import type { Validation } from "./types";

/** Both take a spec as text, so that what is refused is what somebody wrote. */
const AS_YAML = { "Content-Type": "application/yaml" };

/** The schemas that the service itself publishes. */
export function useSpecSchemas() {
  return useQuery({
    queryKey: ["spec schema"],
    queryFn: async (): Promise<Schemas> => {
      const answer = await fetch("/api/v1/schema?format=json");
      if (!answer.ok) throw new Error("The description of specs did not come.");
      const document = (await answer.json()) as { components: { schemas: Schemas } };
      return document.components.schemas;
    },
    staleTime: Infinity,
  });
}

export interface DryRun {
  /** Of which text it is; it may have been changed since. */
  readonly text: string;
  readonly answer: Validation | null;
  readonly error: unknown;
}

/** What would become of a text, asked anew a moment after each change. */
export function useDryRun(text: string, isAsked: boolean): DryRun | null {
  const [told, setTold] = useState<DryRun | null>(null);
  const [asking] = useState(
    () =>
      new NewestAnswer(validate, (asked: string, answer: Validation | null, error: unknown) => {
        setTold({ text: asked, answer, error });
      }),
  );
  useEffect(() => {
    if (isAsked) asking.ask(text);
    else asking.stop();
  }, [asking, text, isAsked]);
  useEffect(
    () => () => {
      asking.stop();
    },
    [asking],
  );
  return told;
}

function validate(text: string): Promise<Validation> {
  return unwrap(
    client.POST("/api/v1/jobs:validate", {
      params: { query: { outlook: true } },
      headers: AS_YAML,
      body: text as never,
      bodySerializer: (body: unknown) => body as string,
    }),
  );
}

/** Where what was submitted is to be seen. */
export type SubmittedPlace = `/jobs/${string}` | `/jobs?array=${string}`;

/** Submit a text; as long as it is the same text, the same job is meant, however often. */
export function useSubmitText() {
  const queries = useQueryClient();
  const meant = useRef({ text: "", key: "" });
  return useMutation({
    mutationFn: async (text: string): Promise<SubmittedPlace> => {
      if (meant.current.text !== text) meant.current = { text, key: randomKey() };
      const request = {
        params: { header: { "Idempotency-Key": meant.current.key } },
        headers: AS_YAML,
        bodySerializer: (body: unknown) => body as string,
      };
      if (!hasArray(text)) {
        const job = await unwrap(client.POST("/api/v1/jobs", { ...request, body: text as never }));
        return `/jobs/${job.id}`;
      }
      const body = withinSpec(text) as never;
      const made = await unwrap(client.POST("/api/v1/jobs:bulk", { ...request, body }));
      return `/jobs?array=${made.array ?? ""}`;
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ["jobs"] }),
  });
}

/** Also over plain HTTP, where browsers make no UUIDs. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
