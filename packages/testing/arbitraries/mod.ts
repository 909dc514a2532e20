/**
 * Random values of the domain types, as arbitraries of fast-check: the same seed gives the same values, and failing
 * values shrink. Records are consistent: a completed session has a game user, and every user that a fixture entry
 * names exists. Functions take arbitraries for the fields that a test restricts.
 */
export * from "./accounts.ts";
export * from "./fixture.ts";
export * from "./ids.ts";
export * from "./links.ts";
export * from "./networks.ts";
export * from "./platform.ts";
export * from "./texts.ts";
export * from "./verification.ts";
