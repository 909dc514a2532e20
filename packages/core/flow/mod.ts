/** The public verification flow of a browser. */

export type { ConfirmForm } from "./confirm_flow.ts";
export { entryIn } from "./flow_cookie.ts";
export * from "./flow_store.ts";
export * from "./flow_view.ts";
export * from "./game_ways.ts";
export type { FlowForm } from "./held_flow.ts";
export { makeKnownAccounts } from "./known_accounts.ts";
export type { KnownOffer, KnownOffers } from "./known_offers.ts";
export { isLate, lastPageLife } from "./last_page.ts";
export type { WordsView } from "./prove_game.ts";
export * from "./verification_flows.ts";
