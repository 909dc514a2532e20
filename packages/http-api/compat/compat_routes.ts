import type { OtherService } from "../other_service.ts";
import { type Route, routesIn } from "../route.ts";
import * as bloxlinkV3 from "./bloxlink_v3.ts";
import * as bloxlinkV4 from "./bloxlink_v4.ts";
import * as rover from "./rover.ts";
import * as rowifi from "./rowifi.ts";

/**
 * All link services whose APIs the server emulates. A path belongs to the first service whose prefix matches. If two
 * prefixes match a path, the longer one must stand first. @internal
 */
export const otherServices: ReadonlyArray<OtherService> = [
  bloxlinkV3.bloxlinkV3,
  bloxlinkV4.bloxlinkV4,
  rover.rover,
  rowifi.rowifi,
];

export const compatRoutes: ReadonlyArray<Route> = [bloxlinkV4, bloxlinkV3, rover, rowifi].flatMap(routesIn);
