/** Which invitation did somebody come with, and what became of those of a team? */

import type { Invitation } from "../api/types";

const KEPT = "concertina-invitation";
const KEY = /^#?(ci_[\w-]{43})$/;

/** The key behind the `#` of the address, or as it was before one went to sign in. */
export function keyIn(hash: string, kept: Pick<Storage, "getItem" | "setItem">): string {
  const key = KEY.exec(hash)?.[1];
  if (key !== undefined) kept.setItem(KEPT, key);
  else if (hash !== "") return "";
  return key ?? KEY.exec(kept.getItem(KEPT) ?? "")?.[1] ?? "";
}

export function forget(kept: Pick<Storage, "removeItem">): void {
  kept.removeItem(KEPT);
}

export type InvitationState = "open" | "expired" | "revoked" | "accepted";

export function stateOf(invitation: Invitation, now: number): InvitationState {
  if (invitation.accepted_at !== null) return "accepted";
  if (invitation.revoked_at !== null) return "revoked";
  return Date.parse(invitation.expires_at) > now ? "open" : "expired";
}
