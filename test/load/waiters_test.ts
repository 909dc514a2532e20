/**
 * Many clients that wait: a small round of the proof.
 */
import { expect, test } from "vitest";
import { expectCheap, startWaitingServer } from "./waiters.ts";

test("500 streams and 500 long polls are woken at once and leave nothing behind", async () => {
  const { wait, stop } = await startWaitingServer();
  await wait("stream", 300);
  await wait("poll", 300);
  // The machine may be busy with something else here; the proof holds it to one second.
  expectCheap("streams", 500, await wait("stream", 500), 5_000);
  expectCheap("long polls", 500, await wait("poll", 500), 5_000);
  expect(await stop()).toBe(0);
});
