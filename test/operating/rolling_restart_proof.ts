/** Rolling restarts and kills of three nodes behind balancers. */
import { expect, test } from "vitest";
import { runRollingRestarts, whyNoRollingRestarts } from "./rolling_restarts.ts";

const missing = await whyNoRollingRestarts();

test.skipIf(missing !== null)(
  `twenty rolling restarts of three nodes lose nothing behind HAProxy and behind nginx, and do each write once ${missing ?? ""}`,
  async () => {
    const reports = await runRollingRestarts(20, "restart");
    console.log(reports);
    for (const { requests, lost, sentTwice } of Object.values(reports)) {
      expect({ lost, sentTwice }).toEqual({ lost: [], sentTwice: [] });
      expect(requests).toBeGreaterThan(4_000);
    }
  },
);

test.skipIf(missing !== null)(
  `nodes that are killed behind both do no write twice, and each once that has an Idempotency-Key ${missing ?? ""}`,
  async () => {
    const reports = await runRollingRestarts(5, "kill");
    console.log(reports);
    for (const { writes, lost, sentTwice } of Object.values(reports)) {
      expect(sentTwice).toEqual([]);
      expect(lost.length).toBeGreaterThan(0);
      expect(writes).toBeGreaterThan(500);
    }
  },
);
