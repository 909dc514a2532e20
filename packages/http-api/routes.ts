import { type Route, routesIn } from "./route.ts";
import * as altsV1 from "./v1/alts.ts";
import * as linksV1 from "./v1/links.ts";
import * as sessionsV1 from "./v1/sessions.ts";
import * as altsV2 from "./v2/alts.ts";
import * as eventsV2 from "./v2/events.ts";
import * as keysV2 from "./v2/keys.ts";
import * as lookupsV2 from "./v2/lookups.ts";
import * as membersV2 from "./v2/members.ts";
import * as sessionsV2 from "./v2/sessions.ts";
import * as writesV2 from "./v2/writes.ts";

export const routes: ReadonlyArray<Route> = [
  lookupsV2,
  altsV2,
  writesV2,
  membersV2,
  eventsV2,
  keysV2,
  sessionsV2,
  linksV1,
  altsV1,
  sessionsV1,
].flatMap(routesIn);
