/** `limits_proof.ts` has more rounds. */
import { testLimits } from "./limits.ts";

testLimits(30);
