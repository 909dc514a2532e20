/** Restarts lose no request. `rolling_restart_proof.ts` has twenty rounds of them. */
import { describe, expect, it } from "vitest";
import { runRollingRestarts, stopUnderClients, whyNoRollingRestarts } from "./rolling_restarts.ts";

const missing = await whyNoRollingRestarts();

describe.skipIf(missing !== null)(`a rolling restart of three nodes ${missing ?? ""}`, () => {
  it(
    "loses nothing behind HAProxy and behind nginx",
    async () => {
      const reports = await runRollingRestarts(1);
      console.log(reports);
      for (const { reads, writes, failures } of Object.values(reports)) {
        expect(failures).toEqual([]);
        expect(Math.min(reads, writes)).toBeGreaterThan(50);
      }
    },
    5 * 60_000,
  );
});

describe("one node that is stopped", () => {
  it("answers every request that it gets before its port is closed", async () => {
    const reports = await stopUnderClients();
    expect(reports.flatMap(({ failures }) => failures)).toEqual([]);
  });
});
