/** Fairness: in which order accounts get what they share. `docs/fairness.md` says how its parts work together. @internal */
export * from "./address_rate.ts";
export * from "./bounds.ts";
export * from "./request_places.ts";
export * from "./resources.ts";
export * from "./turns.ts";
export { uncounted, WorkingTimes } from "./working_time.ts";
