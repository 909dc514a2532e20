/** Accounts, their scopes and keys. */
import { guildOf, type KeyId } from "@accountlink/core";
import { type KeyRecord, noSettings } from "@accountlink/core/keys";
import { snakeCase } from "@accountlink/core/records";
import { Record } from "effect";
import { lastUses } from "../stores/known_accounts.ts";
import { accounts, type StoredScope, scopes } from "../stores/scopes.ts";
import { at } from "./places.ts";
import { type Definition, type Unit, unit } from "./unit.ts";

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
    part: { table: "block_removals", by: "pid" },
    fields: ({ pid }, removals, places) => ({
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
];

/** When a key was last used is a column of its row. */
export const lastUseOfKey: Pick<Definition<KeyRecord>, "also" | "row"> = {
  also: (tx, { id, last_used_at: used }) => {
    if (typeof used === "number") tx.insert(lastUses, { key: id as KeyId, at: used });
  },
  row: ({ id }, places) => ({ last_used_at: places.lastUses.get(id) ?? null }),
};
