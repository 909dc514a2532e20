import { type AuditEntry, type ChatId, withoutUser } from "@accountlink/core";
import type { Memory } from "./state.ts";

/** The entries of every account that name a chat user or an account of theirs, oldest first. */
export const entriesOf = (
  memory: Memory,
  chatId: ChatId,
  accountNames: ReadonlyArray<string>,
): ReadonlyArray<AuditEntry> =>
  [...memory.log.values()]
    .flat()
    .filter((entry) => withoutUser(entry, chatId, accountNames) !== null)
    .toSorted((one, other) => one.sequence - other.sequence);
