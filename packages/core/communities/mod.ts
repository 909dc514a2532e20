/** Communities: guilds in which members link, and what their teams choose. */
export * from "./asking_name.ts";
export * from "./communities.ts";
export * from "./community.ts";
export * from "./community_store.ts";
export * from "./linking.ts";
