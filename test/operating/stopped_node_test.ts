/** A node that is stopped loses no request. `rolling_restart_proof.ts` restarts three of them behind balancers. */
import { isProof } from "@accountlink/test-servers";
import { expect, it } from "vitest";
import { stopUnderClients } from "./rolling_restarts.ts";

it("answers every request that it gets before its port is closed", async () => {
  for (let stop = 0; stop < (isProof ? 20 : 1); stop++) expect(await stopUnderClients()).toEqual([]);
});
