/**
 * Five minutes of faults on three nodes.
 */
import { expect, test } from "vitest";
import { testFaults } from "./fault_report.ts";
import { kinds } from "./faults.ts";
import { whyNoService } from "./service.ts";

const missing = await whyNoService();

test.skipIf(missing !== null)(
  `three nodes keep their promises for 5 minutes of faults ${missing ?? ""}`,
  async () => {
    const { problems, ...counts } = await testFaults(300);
    console.log(counts);
    expect(problems).toEqual([]);
    expect(counts.answered).toBeGreaterThan(3_000);
    expect(Object.keys(counts.faults).toSorted()).toEqual(kinds.toSorted());
  },
);
