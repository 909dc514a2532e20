/** Fair queueing by account for what accounts share. @internal */
export * from "./account_requests.ts";
export { noteRequest, RecentRequests } from "./recent_requests.ts";
export * from "./resources.ts";
export * from "./rest.ts";
export * from "./turns.ts";
export { accountsPart } from "./working_time.ts";
