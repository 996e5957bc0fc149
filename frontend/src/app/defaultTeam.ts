/** For which team is a new job unless somebody says otherwise? Kept in this browser. */

const STORAGE_KEY = "concertina.team";

export function defaultTeam(): string {
  return localStorage.getItem(STORAGE_KEY) ?? "";
}

/** Empty: none. */
export function chooseDefaultTeam(team: string): void {
  if (team === "") localStorage.removeItem(STORAGE_KEY);
  else localStorage.setItem(STORAGE_KEY, team);
}

/** The teams with the chosen one first, if it is among them. */
export function defaultTeamFirst(teams: readonly string[], chosen: string): readonly string[] {
  return teams.includes(chosen) ? [chosen, ...teams.filter((team) => team !== chosen)] : teams;
}
