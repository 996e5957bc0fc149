/** Is somebody else signed in by now? All windows of a browser have one session. */

const NAME = "concertina-person";
const NOBODY = "";

let opened: BroadcastChannel | null = null;

/** That of this window, which does not hear itself; null: the browser has none. */
function channel(): BroadcastChannel | null {
  if (!("BroadcastChannel" in globalThis)) return null;
  opened ??= new BroadcastChannel(NAME);
  return opened;
}

/** Tell the other windows who is signed in, and be told when it is another; returns what ends it. */
export function watchPerson(name: string, onOther: () => void): () => void {
  const told = channel();
  if (told === null) return () => undefined;
  told.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (data !== name) onOther();
  };
  told.postMessage(name);
  return () => {
    told.onmessage = null;
  };
}

export function tellSignedOut(): void {
  channel()?.postMessage(NOBODY);
}
