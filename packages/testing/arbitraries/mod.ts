/**
 * Random values of every domain type, as arbitraries of fast-check: the same seed gives the same
 * values, and values that fail shrink. Records are whole: a session that is completed has a game
 * user, and whoever an entry of a fixture names exists. Functions take arbitraries for the fields
 * that a test restricts.
 */
export * from "./accounts.ts";
export * from "./changes.ts";
export * from "./fixture.ts";
export * from "./ids.ts";
export * from "./links.ts";
export * from "./networks.ts";
export * from "./platform.ts";
export * from "./texts.ts";
export * from "./verification.ts";
