/** Accounts and their scopes in any storage. */
import { Array as Arr, Clock, Effect, Option, Struct } from "effect";
import {
  accountQueue,
  changeInSteps,
  changeKeys,
  clearAccount,
  closeAccount,
  endMembers,
  type Unfinished,
} from "./account_end.ts";
import { memberRecords } from "./accounts/member_store.ts";
import { changeDetails, changedFields } from "./audit/audit.ts";
import { isGenerated } from "./communities/asking_name.ts";
import { guildOf, targetOfGuild } from "./data_scope.ts";
import { type Account, isOperators, suspendedOwners } from "./keys/api_key.ts";
import { type KeyStore, scopeOrder } from "./keys/key_store.ts";
import type { KnownAccount, StoreRecords } from "./records/records.ts";
import { assertStorable } from "./storable_text.ts";

type Store = KeyStore["Service"];

type Outcome<Name extends keyof Store> = Effect.Success<ReturnType<Store[Name]>>;

const accountOf = ({ id: _, ...account }: KnownAccount): Account => account;

/** The operations of `KeyStore` on accounts and scopes. @internal */
export const accountOperations = ({ read, write }: StoreRecords<keyof Store>) =>
  ({
    ensureAccount: (made, ownerHash) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        write("ensureAccount", accountQueue(made.name), function* (tx) {
          const { name, chatId, tier } = made;
          let account = yield* tx.account(name);
          if (account === undefined) {
            const isSuspended =
              ownerHash !== undefined && (yield* tx.remove(suspendedOwners, ownerHash)) !== undefined;
            const status = isSuspended ? "suspended" : "active";
            account = yield* tx.addAccount({ name, chatId, tier, status, operator: isOperators(made) });
          }
          const { id, chatId: owner } = account;
          if (owner !== null && (yield* tx.get(memberRecords, id, owner)) === undefined) {
            const member = {
              role: "owner",
              scopes: null,
              since: now,
              chosenAt: now,
              invitedBy: null,
            } as const;
            yield* tx.put(memberRecords, { account: id, chatId: owner, ...member });
          }
          return accountOf(account);
        }),
      ),

    findAccount: (name) =>
      read("findAccount", function* (tx) {
        return Option.map(Option.fromUndefinedOr(yield* tx.account(name)), accountOf);
      }),

    listAccounts: () => read("listAccounts", (tx) => tx.allAccounts()),

    updateAccount: ({ name, update, ...origin }) =>
      changeInSteps((before) =>
        write<Outcome<"updateAccount"> | Unfinished>("updateAccount", accountQueue(name), function* (tx) {
          // Holds, so that no key is created before the end of the write: a new key copies the status of its account.
          const account = yield* tx.account(name);
          if (account === undefined) return Option.none();
          const suspended = "status" in update && update.status === "suspended";
          const { changed, isMore } = yield* changeKeys(tx, name, (key) => {
            if ("tier" in update)
              return key.kind === "normal" && key.tier !== update.tier ? { ...key, ...update } : null;
            return key.suspended === suspended ? null : { ...key, suspended };
          });
          if (isMore) return { unfinished: changed };
          const keys = [...before, ...changed];
          const updated = { ...account, ...update };
          if (keys.length === 0 && updated.tier === account.tier && updated.status === account.status)
            return Option.some({ changed: false, keys });
          const details = { ...update, keys: keys.length };
          yield* tx.journal({ ...origin, pid: null, account: account.id }, "account.updated", details);
          yield* tx.putAccount(updated);
          return Option.some({ changed: true, keys });
        }),
      ),

    renameAccount: ({ name, displayName, ...origin }) =>
      write<Outcome<"renameAccount">>(
        "renameAccount",
        [accountQueue(name), `name of an account: ${displayName}`],
        function* (tx) {
          assertStorable([displayName]);
          const account = yield* tx.account(name);
          if (account === undefined) return "unknown";
          const named = yield* tx.accountsNamed(displayName);
          if (named.some(({ id }) => id !== account.id)) return "taken";
          const { displayName: before, ...unnamed } = account;
          const given = displayName === name ? undefined : displayName;
          if (given === before) return "unchanged";
          yield* tx.putAccount(given === undefined ? unnamed : { ...unnamed, displayName: given });
          const details = { name: given ?? (isGenerated(name) ? null : name) };
          yield* tx.journal({ ...origin, pid: null, account: account.id }, "account.updated", details);
          return "renamed";
        },
      ),

    endAccount: ({ name, pseudonym, ...origin }) =>
      changeInSteps((before) =>
        write<Outcome<"endAccount"> | Unfinished>("endAccount", accountQueue(name), function* (tx) {
          assertStorable([pseudonym]);
          const account = yield* tx.account(name);
          if (account === undefined) return Option.none();
          // Held before what belongs to them, as in the deletion of a scope.
          yield* tx.scopesOf(name);
          const { revoked, isMore } = yield* closeAccount(tx, account, origin.at);
          if (
            isMore ||
            (yield* clearAccount(tx, account)) ||
            (yield* tx.renameEntries(account, pseudonym)) ||
            (yield* endMembers(tx, account))
          )
            return { unfinished: revoked };
          const keys = [...before, ...revoked];
          const id = yield* tx.releaseAccount(account, pseudonym);
          const actor = origin.actor.type === "account" ? { ...origin.actor, id: pseudonym } : origin.actor;
          const details = { status: "deleted", revokedKeys: keys.length };
          yield* tx.journal({ ...origin, actor, pid: null, account: id }, "account.updated", details);
          return Option.some(keys);
        }),
      ),

    ensureScope: (account, target, pid) =>
      write("ensureScope", accountQueue(account), function* (tx) {
        const [found] = yield* tx.scopesOf(account, target);
        if (found !== undefined) return found.scope;
        const scope = { ...targetOfGuild(guildOf(target)), pid, account };
        yield* tx.addScope(scope);
        return scope;
      }),

    findScope: (account, target) =>
      read("findScope", function* (tx) {
        return Option.map(Arr.head(yield* tx.scopesOf(account, target)), ({ scope }) => scope);
      }),

    findScopeByPid: (pid) =>
      read("findScopeByPid", function* (tx) {
        const known = Option.fromUndefinedOr((yield* tx.scopes([pid])).get(pid));
        return Option.map(known, ({ scope, settings }) => ({ scope, settings }));
      }),

    listScopes: (account) =>
      read("listScopes", function* (tx) {
        return (yield* tx.scopesOf(account)).toSorted(scopeOrder);
      }),

    updateSettings: ({ update, ...origin }) =>
      write("updateSettings", origin.pid, function* (tx) {
        assertStorable(Object.values(update).filter((value) => typeof value === "string"));
        const { pid } = origin;
        const known = yield* tx.scope(pid);
        if (known === undefined) {
          throw new Error(`Cannot change the settings of scope "${pid}", expected one that exists`);
        }
        const changed = changedFields(Struct.keys(update), known.settings, update);
        if (changed.length === 0) return known.settings;
        const settings = { ...known.settings, ...update };
        yield* tx.putSettings(pid, settings);
        yield* tx.journal(origin, "account.updated", changeDetails(known.settings, settings, changed));
        return settings;
      }),
  }) satisfies Partial<Store>;
