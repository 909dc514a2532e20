import type { ChatId } from "@accountlink/core";
import type { AuditEntry } from "@accountlink/core/audit";
import { withoutUser } from "@accountlink/core/users";
import type { Memory } from "../state/state.ts";

/** The entries that name a chat user or an account of theirs. */
export const entriesOf = (
  memory: Memory,
  chatId: ChatId,
  accountNames: ReadonlyArray<string>,
): ReadonlyArray<AuditEntry> =>
  [...memory.log.values()].flat().filter((entry) => withoutUser(entry, chatId, accountNames) !== null);
