/** Very many clients that wait, on one server. */
import { expect, test } from "vitest";
import { expectCheap, expectCheapReaders, startFeedServer, startWaitingServer } from "./waiters.ts";

const count = 10_000;

test("10,000 streams and 10,000 long polls are woken within a second and cost 25 kB each", async () => {
  const { wait, stop } = await startWaitingServer();
  await wait("stream", 1_000);
  await wait("poll", 1_000);
  expectCheap("streams", count, await wait("stream", count), 1_000);
  expectCheap("long polls", count, await wait("poll", count), 1_000);
  expect(await stop()).toBe(0);
});

test("5,000 readers of events are woken by a change and cost 25 kB each", async () => {
  const readers = 5_000;
  const { wait, stop } = await startFeedServer(readers);
  await wait(1_000);
  expectCheapReaders(readers, await wait(readers));
  expect(await stop()).toBe(0);
});
