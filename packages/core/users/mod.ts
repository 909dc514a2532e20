/** The data of one chat user: access and erasure. */
export { erasedMark } from "../erased_mark.ts";
export * from "./erasure.ts";
export type { OwnCommunity } from "./own_community.ts";
export * from "./own_links.ts";
export * from "./own_sightings.ts";
export * from "./user_data.ts";
export * from "./user_export.ts";
export * from "./user_order.ts";
export * from "./user_store.ts";
