import { type Route, routesIn } from "../route.ts";
import * as account from "./account.ts";
import * as activity from "./activity.ts";
import * as alts from "./alts.ts";
import * as blocks from "./blocks.ts";
import * as channels from "./channels.ts";
import * as communities from "./communities.ts";
import * as keys from "./keys.ts";
import * as members from "./members.ts";
import * as roles from "./roles.ts";
import * as webhooks from "./webhooks.ts";

/** The dashboard's JSON API, whose routes need a signed-in user; some take a key with access `manage` instead. */
export const dashboardRoutes: ReadonlyArray<Route> = [
  account,
  members,
  keys,
  webhooks,
  roles,
  channels,
  communities,
  blocks,
  alts,
  activity,
].flatMap(routesIn);
