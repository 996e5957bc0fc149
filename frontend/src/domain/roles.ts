/** What is said of the roles that people have in a team? */

import type { MemberList, RoleName, RolePermission, TeamMember } from "../api/types";

/** From the least to the most, each in a few words; what exactly it may do stands in a table. */
export const ROLES: readonly { readonly role: RoleName; readonly meaning: string }[] = [
  { role: "viewer", meaning: "sees its jobs and what they leave" },
  { role: "member", meaning: "submits jobs, and steers their own" },
  { role: "lead", meaning: "steers all jobs; changes people, tokens and secrets" },
];

/** Where somebody has their role: here, or in a team above, where it is changed. */
export function placeOf(member: TeamMember, team: string): string {
  const words = [
    ...(member.team === team ? [] : [`by team ${member.team}`]),
    ...(member.is_active ? [] : ["cannot sign in now"]),
  ];
  return words.join(" · ");
}

/** Who has to be asked for what one may not do oneself; by name, each once. */
export function leadsOf(members: readonly TeamMember[]): readonly string[] {
  const leads = members.filter(({ role, is_active }) => role === "lead" && is_active);
  return [...new Set(leads.map(({ name }) => name))].toSorted();
}

/** "Ask ada, carl or an admin." */
export function whomToAsk(members: readonly TeamMember[]): string {
  const leads = leadsOf(members);
  const named = leads.slice(0, MOST_NAMED).join(", ");
  return leads.length === 0 ? "Ask an admin." : `Ask ${named} or an admin.`;
}

const MOST_NAMED = 3;

/** A cell of the table: whether a role may do it, and whether only with one's own jobs. */
export function mayDo(permission: RolePermission, role: RoleName, sharesJobs: boolean): boolean {
  const isShared = permission.permission === "change_all_jobs" && role === "member" && sharesJobs;
  return isShared || permission.roles.includes(role);
}

export function mayDoIt(
  list: MemberList | undefined,
  permission: RolePermission["permission"],
): boolean {
  return list?.may.includes(permission) ?? false;
}
