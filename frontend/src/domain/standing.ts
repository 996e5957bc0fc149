/** Where do a team's four numbers lie on a bar as long as the pool? */

import type { TeamStanding } from "../api/types";

/** Percentages of the bar. */
export interface ShareBar {
  readonly own: number;
  readonly borrowed: number;
  readonly guarantee: number;
  readonly fairShare: number;
}

export function shareBar(team: TeamStanding, gpusTotal: number): ShareBar {
  const own = Math.min(team.allocated, team.guaranteed);
  const percent = (gpus: number) => Math.min(100, (gpus / Math.max(1, gpusTotal)) * 100);
  return {
    own: percent(own),
    borrowed: percent(team.allocated) - percent(own),
    guarantee: percent(team.guaranteed),
    fairShare: percent(team.fair_share),
  };
}

/** What it takes of others or leaves to them; never both at a time, but in pools that are summed up. */
export interface Exchange {
  readonly name: "Borrowed" | "Lent";
  readonly gpus: number;
  readonly meaning: string;
}

export function exchangeOf({ borrowed, lent, guaranteed }: TeamStanding): Exchange {
  if (lent > 0 && borrowed === 0) {
    return { name: "Lent", gpus: lent, meaning: "of its guarantee, used by others" };
  }
  const also = lent > 0 ? `, and lends ${lent}` : "";
  const beyond = guaranteed > 0 ? "beyond its guarantee" : "without a guarantee";
  return { name: "Borrowed", gpus: borrowed, meaning: `${beyond}${also}` };
}
