/** The actions of the audit log, in words. */

import type { AuditAction } from "@accountlink/core/audit";

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
  "key.rotated": "Key rotated",
  "key.status_changed": "Status of a key changed",
  "key.reported": "Key reported as leaked",
  "account.updated": "Account changed",
  "user.erased": "User erased",
  "webhook.created": "Webhook created",
  "webhook.updated": "Webhook changed",
  "webhook.deleted": "Webhook deleted",
  "webhook.rotated": "Webhook rotated",
  "webhook.disabled": "Webhook disabled by the service",
  "member.added": "Member added",
  "member.role_changed": "Role of a member changed",
  "member.removed": "Member removed",
};
