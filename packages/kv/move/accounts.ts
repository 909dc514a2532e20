/** Accounts, their scopes and keys. */
import { guildOf, type KeyId, type Row } from "@accountlink/core";
import { noSettings } from "@accountlink/core/keys";
import { snakeCase } from "@accountlink/core/records";
import { Record } from "effect";
import { suspendedOwners } from "../stores/account_operations.ts";
import { keys, lastUses } from "../stores/keys.ts";
import { accounts, type StoredScope, scopes } from "../stores/scopes.ts";
import { at, scopeRef } from "./places.ts";
import { type Unit, unit } from "./unit.ts";

export const accountUnits: ReadonlyArray<Unit> = [
  unit({
    records: accounts,
    relation: "accounts",
    columns: {
      name: "name",
      chat_id: "chatId",
      tier: "tier",
      status: "status",
      operator: ["flag", "operator"],
      display_name: ["optional", "displayName"],
    },
    fields: ({ name }, _, places) => ({ id: at(places.accounts, String(name)).id }),
  }),
  unit({ records: suspendedOwners, relation: "suspended_owners", columns: { hash: "hash" } }),
  unit<StoredScope>({
    records: scopes,
    relation: "scopes",
    columns: {
      pid: "pid",
      ...Object.fromEntries(
        Record.toEntries(noSettings).map(([name, unset]) => [
          snakeCase(name),
          [typeof unset === "boolean" ? "flag" : "plain", `settings.${name}`] as const,
        ]),
      ),
    },
    parts: { block_removals: { pid: "pid" } },
    fields: ({ pid }, { block_removals: removals = [] }, places) => ({
      ...at(places.scopes, String(pid)),
      ...(removals.length > 0 && {
        blocking: removals.map(({ game_id: gameId, entry }) => ({ gameId, entry })),
      }),
    }),
    row: ({ account, target }, places) => ({
      account: at(places.accountsById, account).name,
      guild_id: guildOf(target),
    }),
    partTables: ["block_removals"],
    rowsOfParts: ({ pid, blocking = [] }) => ({
      block_removals: blocking.map(({ gameId, entry }) => ({ pid, game_id: gameId, entry })),
    }),
  }),
  unit({
    records: keys,
    relation: "keys",
    columns: {
      id: "key.id",
      pid: "scope.pid",
      name: "key.name",
      tier: "key.tier",
      kind: "key.kind",
      access: "key.access",
      status: "key.status",
      expires_at: "key.expiresAt",
      limits: ["json", "key.limits"],
      allow_ips: ["json", "key.allowIps"],
      deny_ips: ["json", "key.denyIps"],
      redirect_origins: ["json", "key.redirectOrigins"],
      created_at: "key.createdAt",
      made_by: ["optional", "key.madeBy"],
      counts: ["flag", "counts"],
      revoked_at: "revokedAt",
    },
    parts: { key_secrets: { key_id: "id" } },
    fields: ({ pid, revoked_at: revokedAt, suspended }, { key_secrets: secrets = [] }, places) => ({
      scope: scopeRef(places, String(pid)),
      secrets: secrets.toSorted(newestLast).map(({ hash, ends_at: endsAt }) => ({ hash, endsAt })),
      ...(revokedAt !== null && { wasSuspended: suspended === 1 }),
    }),
    also: (tx, { id, last_used_at: used }) => {
      if (typeof used === "number") tx.insert(lastUses, { key: id as KeyId, at: used });
    },
    row: ({ key, scope, wasSuspended }, places) => ({
      last_used_at: places.lastUses.get(key.id) ?? null,
      suspended: Number(wasSuspended ?? at(places.accountsById, scope.account).isSuspended),
    }),
    partTables: ["key_secrets"],
    rowsOfParts: ({ key, secrets }) => ({
      key_secrets: secrets.map(({ hash, endsAt }) => ({ hash, key_id: key.id, ends_at: endsAt })),
    }),
  }),
];

/** The secret that ends with its key is the newest. */
const newestLast = ({ ends_at: one }: Row, { ends_at: other }: Row): number =>
  Number(one ?? Infinity) - Number(other ?? Infinity) || 0;
