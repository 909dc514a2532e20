/** The routes of v2. Generated from the routes of @accountlink/http-api. */

/** The value of the request header `Service-Version` for which the types of the contract are correct. */
export const serviceVersion = "2026-01-01";

/** The method and path of each route. `isIdempotent`: the route accepts an `Idempotency-Key`. */
export const routes = {
  getChat: { method: "GET", path: "/v2/chat" },
  bulkChat: { method: "POST", path: "/v2/chat/bulk" },
  getGame: { method: "GET", path: "/v2/game" },
  bulkGame: { method: "POST", path: "/v2/game/bulk" },
  listLinks: { method: "GET", path: "/v2/links" },
  getVerification: { method: "GET", path: "/v2/verifications/chat" },
  getAlts: { method: "GET", path: "/v2/alts" },
  bulkAlts: { method: "POST", path: "/v2/alts/bulk" },
  deleteAltReview: { method: "DELETE", path: "/v2/alts/reviews", isIdempotent: true },
  getAltReviews: { method: "GET", path: "/v2/alts/reviews" },
  putAltReview: { method: "PUT", path: "/v2/alts/reviews", isIdempotent: true },
  patchChat: { method: "PATCH", path: "/v2/chat", isIdempotent: true },
  deleteData: { method: "DELETE", path: "/v2/data", isIdempotent: true },
  deleteGame: { method: "DELETE", path: "/v2/game", isIdempotent: true },
  patchGame: { method: "PATCH", path: "/v2/game", isIdempotent: true },
  syncMember: { method: "POST", path: "/v2/members/sync" },
  getEvents: { method: "GET", path: "/v2/events" },
  streamEvents: { method: "GET", path: "/v2/events/stream" },
  reportLeakedKey: { method: "POST", path: "/v2/keys/leaked" },
  createSession: { method: "POST", path: "/v2/sessions", isIdempotent: true },
  cancelSession: { method: "DELETE", path: "/v2/sessions/:sid", isIdempotent: true },
  getSession: { method: "GET", path: "/v2/sessions/:sid" },
  redirectSession: { method: "GET", path: "/v2/sessions/:sid/redirect" },
  streamSession: { method: "GET", path: "/v2/sessions/:sid/stream" },
} as const;
