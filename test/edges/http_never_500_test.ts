/** `http_never_500_proof.ts` sends ten times as many. */
import { testRandomRequests } from "./http_never_500.ts";

testRandomRequests(2_000);
