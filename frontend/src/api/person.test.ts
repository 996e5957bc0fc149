import { expect, it } from "vitest";

import { tellSignedOut, watchPerson } from "./person";

/** Another window of the browser, which says what a test has it say. */
function other() {
  const channel = new BroadcastChannel("concertina-person");
  const next = () =>
    new Promise<unknown>((heard) => {
      channel.onmessage = ({ data }: MessageEvent<unknown>) => {
        heard(data);
      };
    });
  return { channel, next };
}

it("is told by a window in which somebody else signed in, or that person out", async () => {
  const { channel, next } = other();
  const first = next();
  let others = 0;
  const heard = new Promise<void>((settle) => {
    const stop = watchPerson("ada", () => {
      others += 1;
      stop();
      settle();
    });
  });
  expect(await first).toBe("ada");
  channel.postMessage("ada");
  channel.postMessage("bob");
  channel.postMessage("carl");
  await heard;
  expect(others).toBe(1);
  const last = next();
  tellSignedOut();
  expect(await last).toBe("");
  channel.close();
});
