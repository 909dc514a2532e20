import type { CompatService } from "../compat_service.ts";
import type { Route } from "../route.ts";
import * as bloxlinkV3 from "./bloxlink_v3.ts";
import * as bloxlinkV4 from "./bloxlink_v4.ts";
import * as rover from "./rover.ts";
import * as rowifi from "./rowifi.ts";

/**
 * The services; one with a longer prefix goes before the one that it is under.
 *
 * @internal
 */
export const compatServices: ReadonlyArray<CompatService> = [
  bloxlinkV3.bloxlinkV3,
  bloxlinkV4.bloxlinkV4,
  rover.rover,
  rowifi.rowifi,
];

/** In the order of the documentation. */
export const compatRoutes: ReadonlyArray<Route> = [
  bloxlinkV4.discordToRoblox,
  bloxlinkV4.robloxToDiscord,
  bloxlinkV4.globalDiscordToRoblox,
  bloxlinkV4.globalRobloxToDiscord,
  bloxlinkV3.discordToRoblox,
  bloxlinkV3.robloxToDiscord,
  rover.discordToRoblox,
  rover.robloxToDiscord,
  rowifi.memberV3,
  rowifi.membersOfRobloxV3,
  rowifi.memberV2,
  rowifi.membersOfRobloxV2,
];
