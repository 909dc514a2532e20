/** Reminders of members who have not linked: which communities remind, and whom they have reminded. */
export * from "./reminder_store.ts";
