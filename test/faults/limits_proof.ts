import { testLimits } from "./limits.ts";

testLimits(300);
