/**
 * Two hundred revocations, disablings and suspensions on three nodes, half of them with Redis frozen.
 */
import { expect, test } from "vitest";
import { runRevocations } from "./revocations.ts";
import { whyNoService } from "./service.ts";

const missing = await whyNoService();

test.skipIf(missing !== null)(
  `200 keys are refused on every node within a second ${missing ?? ""}`,
  async () => {
    const times = await runRevocations(200);
    console.log(times);
    // Four acts, with Redis and without.
    expect(times).toHaveLength(8);
  },
);
