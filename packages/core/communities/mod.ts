/** The data scopes of an account and their links, as their owner manages them at the dashboard. @internal */
export * from "./asking_name.ts";
export { type LinkCount, type LinkWays, sumCounts, type VerifiedWeeks } from "./link_counts.ts";
export * from "./member_lists.ts";
export * from "./name_order.ts";
export * from "./owned_accounts.ts";
export * from "./owned_blocks.ts";
export * from "./owned_links.ts";
export * from "./owned_scopes.ts";
export * from "./unlinked_members.ts";
