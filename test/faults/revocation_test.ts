/**
 * A key that is revoked, disabled or suspended on one node is refused on all of them within a second.
 */
import { expect, test } from "vitest";
import { runRevocations } from "./revocations.ts";
import { whyNoService } from "./service.ts";

const missing = await whyNoService();

test.skipIf(missing !== null)(
  `a key is refused on every node within a second of its revocation ${missing ?? ""}`,
  async () => {
    const times = await runRevocations(8);
    console.log(times);
    // Four acts, with Redis and without.
    expect(times).toHaveLength(8);
  },
);
