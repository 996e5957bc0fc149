/** Where does an arrow key lead among things that are laid out in rows? */

interface Place {
  readonly left: number;
  readonly top: number;
}

/** The number of the next one; null: the key leads nowhere. */
export function walked(key: string, from: number, places: readonly Place[]): number | null {
  const last = places.length - 1;
  switch (key) {
    case "ArrowRight":
      return from < last ? from + 1 : null;
    case "ArrowLeft":
      return from > 0 ? from - 1 : null;
    case "Home":
      return from > 0 ? 0 : null;
    case "End":
      return from < last ? last : null;
    case "ArrowDown":
      return inAnotherRow(from, places, 1);
    case "ArrowUp":
      return inAnotherRow(from, places, -1);
    default:
      return null;
  }
}

/** The one of the next row that is nearest. */
function inAnotherRow(from: number, places: readonly Place[], way: 1 | -1): number | null {
  const here = places[from];
  if (here === undefined) return null;
  const beyond = places.filter(({ top }) => (top - here.top) * way > 0);
  const tops = beyond.map(({ top }) => top);
  const row = way === 1 ? Math.min(...tops) : Math.max(...tops);
  let nearest: number | null = null;
  places.forEach(({ left, top }, index) => {
    if (top !== row) return;
    const known = nearest === null ? undefined : places[nearest];
    if (known === undefined || Math.abs(left - here.left) < Math.abs(known.left - here.left)) {
      nearest = index;
    }
  });
  return nearest;
}
