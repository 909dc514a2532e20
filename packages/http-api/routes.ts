/**
 * Every route of the contract, in the order in which the documentation lists them.
 */
import type { Route } from "./route.ts";
import * as v1 from "./v1/links.ts";
import * as lookups from "./v2/links.ts";
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
  v1.chatToGame,
  v1.gameToChat,
  v1.updateGame,
  v1.updateChat,
  v1.deleteGameLink,
  v1.resetDatabase,
] as ReadonlyArray<Route>;
