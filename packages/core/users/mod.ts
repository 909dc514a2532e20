/** The data of one chat user: access and erasure. */
export { erasedMark } from "../erased_mark.ts";
export * from "./erasure_tally.ts";
export * from "./own_data.ts";
export * from "./user_data.ts";
export * from "./user_export.ts";
export * from "./user_records.ts";
export * from "./user_store.ts";
