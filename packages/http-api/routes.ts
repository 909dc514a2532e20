/**
 * Every route of the contract, in the order in which the documentation lists them.
 */
import type { Route } from "./route.ts";
import * as v1 from "./v1/links.ts";
import * as v1Sessions from "./v1/sessions.ts";
import * as lookups from "./v2/links.ts";
import * as sessions from "./v2/sessions.ts";
import * as writes from "./v2/writes.ts";

export const routes = [
  lookups.getChat,
  lookups.getGame,
  lookups.getVerification,
  lookups.bulkChat,
  lookups.bulkGame,
  writes.patchGame,
  writes.patchChat,
  writes.deleteGame,
  writes.deleteData,
  writes.reportLeakedKey,
  sessions.createSession,
  sessions.getSession,
  sessions.streamSession,
  sessions.redirectSession,
  sessions.cancelSession,
  v1.chatToGame,
  v1.gameToChat,
  v1.updateGame,
  v1.updateChat,
  v1.deleteGameLink,
  v1.resetDatabase,
  v1Sessions.createSession,
  v1Sessions.getSession,
  v1Sessions.streamSession,
] as ReadonlyArray<Route>;
