/** Twenty rolling restarts, and twenty stops of one node. */
import { expect, test } from "vitest";
import { runRollingRestarts, stopUnderClients, whyNoRollingRestarts } from "./rolling_restarts.ts";

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

test("one node answers, in twenty stops, every request that it gets before its port is closed", async () => {
  const reports = [];
  for (let stop = 0; stop < 20; stop++) reports.push(...(await stopUnderClients()));
  console.log(`${reports.reduce((sum, { reads, writes }) => sum + reads + writes, 0)} requests`);
  expect(reports.flatMap(({ failures }) => failures)).toEqual([]);
});
