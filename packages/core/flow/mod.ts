/** The public verification flow of a browser. */

export type { FlowForm } from "./confirm_flow.ts";
export * from "./flow_store.ts";
export * from "./flow_view.ts";
export { entryIn } from "./held_flow.ts";
export * from "./verification_flows.ts";
