/**
 * Which colour does a team have? The same one on every page and every day.
 *
 * A team's name picks its slot of the palette; when two teams want the same slot, the one that
 * comes later in the alphabet takes the next free slot. So a new team rarely moves another's colour.
 */

export const PALETTE_SIZE = 8;

export type TeamColours = ReadonlyMap<string, number>;

export function assignTeamColours(names: Iterable<string>): TeamColours {
  const slots = new Map<string, number>();
  const taken = new Set<number>();
  for (const name of [...new Set(names)].sort()) {
    const slot = freeSlot(preferredSlot(name), taken);
    slots.set(name, slot);
    taken.add(slot);
    if (taken.size === PALETTE_SIZE) taken.clear();
  }
  return slots;
}

/** The palette slot of a team, also of one that no list has named yet. */
export function colourSlot(colours: TeamColours, team: string): number {
  return colours.get(team) ?? preferredSlot(team);
}

function freeSlot(preferred: number, taken: ReadonlySet<number>): number {
  let slot = preferred;
  while (taken.has(slot)) slot = (slot + 1) % PALETTE_SIZE;
  return slot;
}

/** FNV-1a over the name's code units. */
function preferredSlot(name: string): number {
  let hash = 0x811c9dc5;
  for (const letter of name) {
    hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193) >>> 0;
  }
  return hash % PALETTE_SIZE;
}
