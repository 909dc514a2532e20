import { testRandomRequests } from "./http_never_500.ts";

testRandomRequests(20_000);
