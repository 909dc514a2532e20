/**
 * A hundred thousand requests to two nodes: their usage is exactly what the access log tells. Nodes that are killed lose
 * at most 5 seconds, and count nothing twice.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import {
  everyKind,
  kindsIn,
  loggedUsage,
  requestsIn,
  sendMany,
  storedUsage,
  sumOf,
  whyNoNodes,
  withNodes,
} from "./usage.ts";

const missing = await whyNoNodes();

test.skipIf(missing !== null)(
  `usage equals the access log over 100,000 requests, also when Postgres is cut off at times ${missing ?? ""}`,
  () =>
    withNodes(async ({ url, shared, own, nodes, cutFor }) => {
      const callers = [shared, own[0]];
      const under = new AbortController();
      const cuts = cutAtTimes(cutFor, under.signal);
      const sent = await sendMany(nodes, callers, 100_000);
      under.abort();
      const cut = await cuts;
      await Promise.all(nodes.map((node) => node.stop()));
      const logged = sumOf(...nodes.map((node) => loggedUsage(node)));
      console.log({ sent, cut, counted: requestsIn(logged), keysAndGroups: Object.keys(logged).length });
      expect(await storedUsage(url, callers)).toEqual(logged);
      expect(kindsIn(logged)).toEqual(everyKind);
    }),
);

/** Cuts one node off now and then, which loses the answers to some commits. Gives how often. */
const cutAtTimes = async (cutFor: (milliseconds: number) => Promise<void>, signal: AbortSignal) => {
  let cuts = 0;
  while (!signal.aborted) {
    await sleep(2_000 + Math.random() * 4_000);
    await cutFor(Math.random() * 2_000);
    cuts++;
  }
  return cuts;
};

test.skipIf(missing !== null)(
  `a node that is killed loses at most 5 seconds of usage and counts nothing twice ${missing ?? ""}`,
  async () => {
    for (let round = 0; round < 5; round++) {
      await withNodes(async ({ url, own, nodes }) => {
        const [one, two] = nodes;
        const gone = new AbortController();
        const sending = sendMany([one], [own[0]], Infinity, gone.signal);
        const others = sendMany([two], [own[1]], Infinity, gone.signal);
        await sleep(6_000 + Math.random() * 4_000);
        const killedAt = Date.now();
        await one.kill();
        gone.abort();
        const [sent] = await Promise.all([sending, others]);
        await two.stop();
        const stored = requestsIn(await storedUsage(url, [own[0]]));
        const early = requestsIn(loggedUsage(one, killedAt - 5_000));
        const logged = requestsIn(loggedUsage(one));
        console.log({ sent, logged, early, stored });
        expect(stored).toBeGreaterThanOrEqual(early);
        expect(stored).toBeLessThanOrEqual(logged);
        expect(early).toBeGreaterThan(0);
        expect(await storedUsage(url, [own[1]])).toEqual(loggedUsage(two));
      });
    }
  },
);
