/** Accounts, their scopes and keys. */
import { type GameId, guildOf, type KeyId } from "@accountlink/core";
import { keyRecords, noSettings } from "@accountlink/core/keys";
import { snakeCase } from "@accountlink/core/records";
import { Effect, Record } from "effect";
import { lastUses } from "../stores/known_accounts.ts";
import { accounts, type StoredScope, scopes } from "../stores/scopes.ts";
import { at } from "./places.ts";
import { partUnit, recordUnit, type Unit, unit } from "./unit.ts";

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
    fields: ({ name }, places) => ({ id: at(places.accounts, String(name)).id }),
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
    fields: ({ pid }, places) => at(places.scopes, String(pid)),
    row: ({ account, target }, places) => ({
      account: at(places.accountsById, account).name,
      guild_id: guildOf(target),
    }),
  }),
  partUnit<StoredScope>({
    records: scopes,
    relation: "block_removals",
    idOf: ({ pid }) => [String(pid)],
    rowsOf: ({ pid, blocking = [] }) =>
      blocking.map(({ gameId, entry }) => ({ pid, game_id: gameId, entry })),
    add: (scope, { game_id: gameId, entry }) => {
      const { blocking = [] } = scope as StoredScope;
      const removal = { gameId: gameId as GameId, entry: Number(entry) };
      return {
        ...(scope as StoredScope),
        blocking: [...blocking.filter((each) => each.gameId !== gameId), removal],
      };
    },
  }),
  // When a key was last used is a column of its row.
  recordUnit(keyRecords, {
    also: (tx, { id: key }: { readonly id: KeyId }, { last_used_at: used }, places) => {
      if (typeof used !== "number") return Effect.void;
      places.lastUses.set(key, used);
      return Effect.sync(() => tx.insert(lastUses, { key, at: used }));
    },
    row: ({ id }: { readonly id: KeyId }, places) => ({ last_used_at: places.lastUses.get(id) ?? null }),
  }),
];
