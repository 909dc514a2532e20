/** Reminders of members who have not linked: which communities remind, and which members were reminded. */
export * from "./reminder_store.ts";
