/** Distinguishes links that a team member made from links that users verified. */
import { Effect } from "effect";
import type { AuditEntry } from "../audit/audit.ts";
import { AuditLog } from "../audit/audit.ts";
import type { DataScope } from "../data_scope.ts";
import type { ChatId } from "../ids.ts";
import type { Link } from "../links/link.ts";

/**
 * Whether a team member set the link on the dashboard, as this audit entry records, and no verification has confirmed
 * the link since.
 */
export const isByHand = (link: Link, { action, actor, at, details }: AuditEntry): boolean =>
  action === "link.set" &&
  actor.type === "account" &&
  at === link.lastVerifiedAt &&
  details["chatId"] === link.chatId &&
  details["via"] === undefined;

/** Returns a function that finds, among links, the chat users that a team member linked. */
export const makeByHand = Effect.map(AuditLog, (log) =>
  Effect.fnUntraced(function* ({ account, pid }: DataScope, links: ReadonlyArray<Link>) {
    const entries = yield* Effect.forEach(
      links,
      ({ chatId }) => log.list(account, null, 1, { action: "link.set", keyId: null, chatId, pid }),
      { concurrency: 8 },
    );
    return new Set<ChatId>(
      links.flatMap((link, i) => (entries[i]?.some((entry) => isByHand(link, entry)) ? [link.chatId] : [])),
    );
  }),
);
