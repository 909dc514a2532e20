/** Finds alternative accounts by shared addresses, browsers and game users, and by moderators' reviews. */

export { maxListedAlts, type WeighedAlt } from "./alt_candidates.ts";
export * from "./alt_detection.ts";
export * from "./alt_queue.ts";
export * from "./alt_review_store.ts";
export * from "./alt_reviews.ts";
export * from "./alt_score.ts";
export * from "./alt_warning.ts";
export type { UnknownMembers } from "./deciding_alts.ts";
export * from "./network_intelligence.ts";
export * from "./rotate_address_keys.ts";
export * from "./sighting_store.ts";
export * from "./suspect_store.ts";
