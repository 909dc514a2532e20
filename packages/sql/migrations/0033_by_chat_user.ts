/** Indexes by chat user, for what a user asks of all scopes: without them, each scope of the service costs a lookup. */
import { changeSchema } from "./change_schema.ts";

export const byChatUser = changeSchema(`
  CREATE INDEX links_by_user ON links (chat_id);
  CREATE INDEX sightings_by_user ON sightings (chat_id);
  CREATE INDEX verification_flows_by_chat_user ON verification_flows (chat_id) WHERE chat_id IS NOT NULL;
  CREATE INDEX verification_sessions_by_chat_user ON verification_sessions (chat_id) WHERE chat_id IS NOT NULL;
  CREATE INDEX alt_reviews_by_user ON alt_reviews (chat_id);
  CREATE INDEX alt_reviews_by_other_user ON alt_reviews (other_chat_id, pid);
  DROP INDEX alt_reviews_by_other;
  CREATE INDEX suspects_by_user ON suspects (chat_id);
  CREATE INDEX suspects_by_other_user ON suspects (other_chat_id, pid);
  DROP INDEX suspects_by_other;
  CREATE INDEX blocks_by_chat_user ON blocks (chat_id, pid) WHERE chat_id IS NOT NULL;
  DROP INDEX blocks_by_chat;
  CREATE INDEX blocks_by_member ON blocks (member) WHERE member IS NOT NULL
`);
