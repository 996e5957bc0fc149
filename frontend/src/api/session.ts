/** Who is signed in? */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import { isUnauthenticated } from "./errors";
import { tellSignedOut } from "./person";
import type { Session } from "./types";

export const SESSION_KEY = ["session"];

/** The session, or null for a visitor. */
export function useSession() {
  return useQuery({ queryKey: SESSION_KEY, queryFn: fetchSession, staleTime: Infinity });
}

/** Whether who is signed in sees the jobs of all teams. */
export function useSeesAll(): boolean {
  return useSession().data?.user.is_admin ?? false;
}

async function fetchSession(): Promise<Session | null> {
  try {
    return await unwrap(client.GET("/api/v1/session"));
  } catch (error) {
    if (isUnauthenticated(error)) return null;
    throw error;
  }
}

/** By what one may sign in besides a password; nobody needs to be known for it. */
export function useSignInMethods() {
  return useQuery({
    queryKey: [...SESSION_KEY, "methods"],
    queryFn: () => unwrap(client.GET("/api/v1/sign-in-methods")),
    staleTime: Infinity,
  });
}

export function useSignIn() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: { username: string; password: string }) =>
      unwrap(client.POST("/api/v1/session", { body })),
    onSuccess: async (session) => {
      // What was asked as a visitor may be answered only now.
      await queries.cancelQueries({ queryKey: SESSION_KEY, exact: true });
      queries.setQueryData(SESSION_KEY, session);
    },
  });
}

export function useSignOut() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(client.DELETE("/api/v1/session")),
    onSuccess: () => {
      // The shell goes first: what it shows would be asked for again once removed.
      queries.setQueryData(SESSION_KEY, null);
      queries.removeQueries({ predicate: (query) => query.queryKey[0] !== SESSION_KEY[0] });
      tellSignedOut();
    },
  });
}
