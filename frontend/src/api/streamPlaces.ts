/** May one more stream be held open? A browser has few connections, which all its windows share. */

export type Leave = () => void;

/** Is told how to give the place back, or null: all are taken. */
export type OnPlace = (leave: Leave | null) => void;

/** Of the six that browsers have to one host: one reads events, one at least is for requests. */
const PLACES = [0, 1, 2, 3].map((place) => `concertina-stream-${String(place)}`);

export function takePlace(onPlace: OnPlace): void {
  if (isUnbounded()) {
    onPlace(() => undefined);
    return;
  }
  void tryEach(PLACES, onPlace);
}

/** One connection carries any number of streams, or windows cannot agree who has which place. */
function isUnbounded(): boolean {
  const [page] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  const carriesMany = page !== undefined && /^h[23]/.test(page.nextHopProtocol);
  return carriesMany || !("locks" in navigator);
}

async function tryEach(places: readonly string[], onPlace: OnPlace): Promise<void> {
  for (const place of places) if (await isTaken(place, onPlace)) return;
  onPlace(null);
}

/** Take a place if it is free, and hold it until it is left. */
function isTaken(place: string, onPlace: OnPlace): Promise<boolean> {
  return new Promise((settle) => {
    const hold = (lock: Lock | null) => {
      settle(lock !== null);
      if (lock === null) return undefined;
      return new Promise<void>((leave) => {
        onPlace(leave);
      });
    };
    navigator.locks.request(place, { ifAvailable: true }, hold).catch(() => {
      settle(true); // a browser that keeps nothing for a page has no locks for it either
      onPlace(() => undefined);
    });
  });
}
