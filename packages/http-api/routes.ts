import type { Route } from "./route.ts";
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
  lookupsV2.getChat,
  lookupsV2.getGame,
  lookupsV2.getVerification,
  lookupsV2.bulkChat,
  lookupsV2.bulkGame,
  altsV2.getAlts,
  altsV2.bulkAlts,
  altsV2.putAltReview,
  altsV2.getAltReviews,
  altsV2.deleteAltReview,
  writesV2.patchGame,
  writesV2.patchChat,
  writesV2.deleteGame,
  writesV2.deleteData,
  membersV2.syncMember,
  eventsV2.getEvents,
  eventsV2.streamEvents,
  eventsV2.listLinks,
  keysV2.reportLeakedKey,
  sessionsV2.createSession,
  sessionsV2.getSession,
  sessionsV2.streamSession,
  sessionsV2.redirectSession,
  sessionsV2.cancelSession,
  linksV1.chatToGame,
  linksV1.gameToChat,
  linksV1.updateGame,
  linksV1.updateChat,
  linksV1.deleteGameLink,
  linksV1.resetDatabase,
  altsV1.detectAlts,
  sessionsV1.createSession,
  sessionsV1.getSession,
  sessionsV1.streamSession,
];
