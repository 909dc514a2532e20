/** What owners see and change at the dashboard: their data scopes with the links in them, and their account. @internal */
export * from "./community_state.ts";
export { type Contest, makeContestOf } from "./contested_links.ts";
export { type LinkCount, type LinkWays, sumCounts, type VerifiedWeeks } from "./link_counts.ts";
export * from "./member_lists.ts";
export * from "./name_order.ts";
export * from "./owned_accounts.ts";
export * from "./owned_audit.ts";
export * from "./owned_blocks.ts";
export * from "./owned_links.ts";
export * from "./owned_scopes.ts";
export * from "./unlinked_members.ts";
