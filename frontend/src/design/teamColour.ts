/** Which CSS colour does a team have here? Assigned once from all teams, shared by every page. */

import { useCallback, useMemo } from "react";

import { useTeams } from "../api/cluster";
import { assignTeamColours, colourSlot, type TeamColours } from "../domain/teamColours";

export function useTeamSlots(): TeamColours {
  const teams = useTeams();
  const names = (teams.data?.items ?? []).map((team) => team.name).join(" ");
  return useMemo(() => assignTeamColours(names === "" ? [] : names.split(" ")), [names]);
}

/** How the service calls those of which a reader is not told which they are; no team has this name. */
const OTHER_TEAMS = "other teams";

export function useTeamColour(): (team: string) => string {
  const slots = useTeamSlots();
  return useCallback(
    (team: string) =>
      team === OTHER_TEAMS ? "var(--text-faint)" : `var(--team-${colourSlot(slots, team)})`,
    [slots],
  );
}
