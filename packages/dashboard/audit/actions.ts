/**
 * The actions and actors of the audit log, in words.
 */

import type { Actor, AuditAction } from "@accountlink/core/audit";
import type { KeyDetails } from "@accountlink/core/keys";
import { nameOf } from "../look/owned_key.ts";

/** What each action is called. */
export const actions: Record<AuditAction, string> = {
  "link.set": "Link set",
  "link.moved": "Link moved to another chat account",
  "link.removed": "Link removed",
  "links.imported": "Links imported",
  "scope.deleted": "All links deleted",
  "review.set": "Review written",
  "review.deleted": "Review deleted",
  "key.created": "Key created",
  "key.updated": "Key changed",
  "key.rotated": "Key got a new secret",
  "key.status_changed": "Status of a key changed",
  "key.reported": "Key reported as leaked",
  "account.updated": "Account changed",
  "user.erased": "User erased",
};

/** Who did it. */
export const actorText = ({ type, id }: Actor, keys: ReadonlyArray<KeyDetails>): string => {
  const key = keys.find((known) => known.id === id);
  switch (type) {
    case "key":
      return key === undefined ? `Key ${id}` : nameOf(key);
    case "account":
      return `${id}, here`;
    case "operator":
      return "The operator";
    case "user":
      return `User ${id}`;
  }
};
