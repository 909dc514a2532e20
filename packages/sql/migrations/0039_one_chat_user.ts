/** Lets a community allow one chat user for each game account. */
import { changeSchema } from "./change_schema.ts";

export const oneChatUser = changeSchema(
  "ALTER TABLE scopes ADD COLUMN one_chat_user INTEGER NOT NULL DEFAULT 0",
);
