/** Where can somebody go by name? Pages, teams and nodes; jobs are asked for from the service. */

import type { Session } from "../../api/types";

export interface Destination {
  readonly name: string;
  /** What it is also called, or what is there. */
  readonly about: string;
  readonly to: string;
  /** True if it is no page of the dashboard, so that the browser has to go there. */
  readonly isOutside?: boolean;
}

const PAGES: readonly Destination[] = [
  { name: "Overview", about: "what runs and waits", to: "/" },
  { name: "Jobs", about: "every job there ever was", to: "/jobs" },
  { name: "Submit a job", about: "new", to: "/submit" },
  { name: "Compare jobs", about: "curves side by side", to: "/compare" },
  { name: "Sweeps", about: "trials, best values, hyperparameters", to: "/sweeps" },
  { name: "Cluster", about: "nodes and GPUs", to: "/cluster" },
  { name: "Autoscaler", about: "decisions, price of a GPU", to: "/autoscaler" },
  { name: "Quotas", about: "guarantees, preview", to: "/quotas" },
  { name: "Simulations", about: "what if, replay with another policy", to: "/simulations" },
  { name: "Audit log", about: "who changed what, refusals", to: "/audit" },
  { name: "Your account", about: "tokens", to: "/account" },
  { name: "Settings", about: "theme, password, time zone, installation", to: "/settings" },
  { name: "API", about: "REST, OpenAPI", to: "/api/v1/docs", isOutside: true },
];
const ADMINS: readonly Destination[] = [
  { name: "Notifications", about: "who is told of all jobs", to: "/notifications" },
  { name: "Admin", about: "Django", to: "/admin/", isOutside: true },
];

export function pagesFor(user: Session["user"]): readonly Destination[] {
  return user.is_admin ? [...PAGES, ...ADMINS] : PAGES;
}

export function teamPages(teams: readonly { readonly name: string }[]): readonly Destination[] {
  return teams.map(({ name }) => ({ name, about: "team", to: `/teams/${name}` }));
}

interface PoolOfNodes {
  readonly name: string;
  readonly nodes: readonly { readonly name: string }[];
}

export function nodePages(pools: readonly PoolOfNodes[]): readonly Destination[] {
  return pools.flatMap((pool) =>
    pool.nodes.map(({ name }) => ({
      name,
      about: `node of ${pool.name}`,
      to: `/cluster?${new URLSearchParams({ pool: pool.name, node: name }).toString()}`,
    })),
  );
}

/** Those that bear every word, at most so many: first where the name begins with what was typed. */
export function matching(
  all: readonly Destination[],
  search: string,
  most: number,
): readonly Destination[] {
  const typed = search.trim().toLowerCase();
  const words = typed.split(/\s+/);
  const found = all.filter(({ name, about }) => {
    const text = `${name} ${about}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const rank = ({ name }: Destination) => {
    const place = name.toLowerCase().indexOf(typed);
    return place === -1 ? Infinity : place;
  };
  return [...found].sort((one, other) => compare(rank(one), rank(other))).slice(0, most);
}

function compare(one: number, other: number): number {
  return one === other ? 0 : one - other;
}
