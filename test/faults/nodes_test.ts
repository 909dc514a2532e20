/**
 * Some seconds of faults on three nodes; `nodes_proof.ts` has five minutes.
 */
import { expect, test } from "vitest";
import { testFaults } from "./fault_report.ts";
import { whyNoService } from "./service.ts";

const missing = await whyNoService();

test.skipIf(missing !== null)(
  `three nodes keep their promises for 5 seconds of faults ${missing ?? ""}`,
  async () => {
    const { problems, ...counts } = await testFaults(5);
    console.log(counts);
    expect(problems).toEqual([]);
    expect(counts.answered).toBeGreaterThan(50);
  },
  // Most of this is for the start of all the processes, on whatever machine.
  4 * 60_000,
);
