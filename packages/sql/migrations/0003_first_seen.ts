/** Adds the first sighting of a user at a place, so that users can tell their browsers apart. */
import { changeSchema } from "./change_schema.ts";

export const firstSeen = changeSchema("ALTER TABLE sightings ADD COLUMN first_seen_at INTEGER");
