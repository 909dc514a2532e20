/** Rolling restarts and kills of three nodes behind balancers, and stops of one node without. */
import { expect, test } from "vitest";
import {
  runCountedRestarts,
  runRollingRestarts,
  stopUnderClients,
  whyNoRollingRestarts,
} from "./rolling_restarts.ts";

const missing = await whyNoRollingRestarts();

test.skipIf(missing !== null)(
  `twenty rolling restarts of three nodes lose nothing behind HAProxy and behind nginx ${missing ?? ""}`,
  async () => {
    const reports = await runRollingRestarts(20);
    console.log(reports);
    for (const { reads, writes, failures } of Object.values(reports)) {
      expect(failures).toEqual([]);
      expect(Math.min(reads, writes)).toBeGreaterThan(2_000);
    }
  },
);

/** Expects of each balancer that clients could write, and that no write was done twice. */
const expectCounted = (reports: Awaited<ReturnType<typeof runCountedRestarts>>) => {
  console.log(reports);
  for (const { writes, sessions, miscounted, sentTwice } of Object.values(reports)) {
    expect({ miscounted, sentTwice }).toEqual({ miscounted: [], sentTwice: [] });
    expect(Math.min(writes, sessions)).toBeGreaterThan(500);
  }
};

test.skipIf(missing !== null)(
  `rolling restarts behind both do each write once, and every request is answered by a node ${missing ?? ""}`,
  async () => {
    const reports = await runCountedRestarts(5, "restart");
    expectCounted(reports);
    for (const { lost } of Object.values(reports)) expect(lost).toEqual([]);
  },
);

test.skipIf(missing !== null)(
  `nodes that are killed behind both do no write twice, and each once that has an Idempotency-Key ${missing ?? ""}`,
  async () => {
    const reports = await runCountedRestarts(5, "kill");
    expectCounted(reports);
    for (const { lost, repeated } of Object.values(reports)) {
      expect(lost.length).toBeGreaterThan(0);
      expect(repeated).toBeGreaterThan(0);
    }
  },
);

test("one node answers, in twenty stops, every request that it gets before its port is closed", async () => {
  const reports = [];
  for (let stop = 0; stop < 20; stop++) reports.push(...(await stopUnderClients()));
  console.log(`${reports.reduce((sum, { reads, writes }) => sum + reads + writes, 0)} requests`);
  expect(reports.flatMap(({ failures }) => failures)).toEqual([]);
});
