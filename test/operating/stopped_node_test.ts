/** A node that is stopped loses no request. `rolling_restart_proof.ts` restarts three of them behind balancers. */
import { expect, it } from "vitest";
import { stopUnderClients } from "./rolling_restarts.ts";

it("answers every request that it gets before its port is closed", async () => {
  expect(await stopUnderClients()).toEqual([]);
});
