/** The public verification flow of a browser. */
export * from "./completion.ts";
export { entryIn } from "./flow_cookie.ts";
export type { FlowForm } from "./flow_form.ts";
export * from "./flow_refusal.ts";
export * from "./flow_store.ts";
export * from "./flow_view.ts";
export * from "./verification_flow.ts";
export * from "./verification_flows.ts";
