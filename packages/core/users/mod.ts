/** The data of one chat user: access and erasure. */
export * from "./erasure.ts";
export * from "./own_browsers.ts";
export * from "./own_links.ts";
export * from "./user_data.ts";
export * from "./user_order.ts";
export * from "./user_store.ts";
