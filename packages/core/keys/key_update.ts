import type { AuditAction, AuditEntry } from "../audit/audit.ts";
import type { ApiKey } from "./api_key.ts";

const fields = [
  "name",
  "tier",
  "kind",
  "access",
  "expiresAt",
  "limits",
  "allowIps",
  "denyIps",
  "redirectOrigins",
  "status",
] as const satisfies ReadonlyArray<keyof ApiKey>;

/** New values of a key; omitted fields stay unchanged. */
export type KeyUpdate = Partial<Pick<ApiKey, (typeof fields)[number]>>;

/** A key with its new values, and the content of the audit entry. */
export interface UpdatedKey {
  readonly key: ApiKey;
  readonly action: AuditAction;
  readonly details: AuditEntry["details"];
}

/**
 * Applies an update to a stored key. Returns null if the update changes nothing.
 *
 * @param action the action of the audit entry; when left out, it is `key.status_changed` or `key.updated`
 * @internal
 */
export const updatedKey = (key: ApiKey, update: KeyUpdate, action?: AuditAction): UpdatedKey | null => {
  const changed = fields.filter(
    (field) => update[field] !== undefined && JSON.stringify(update[field]) !== JSON.stringify(key[field]),
  );
  if (changed.length === 0) return null;
  const next = { ...key, ...Object.fromEntries(changed.map((field) => [field, update[field]])) };
  const { id: keyId, status } = next;
  return changed.every((field) => field === "status")
    ? { key: next, action: action ?? "key.status_changed", details: { keyId, status } }
    : // Only names are logged, because values may be addresses.
      { key: next, action: action ?? "key.updated", details: { keyId, status, changed: changed.join(", ") } };
};
