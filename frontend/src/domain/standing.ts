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
