/** Mistakes in keys and accounts. */
import type { Mutant } from "./mutant.ts";

const keys = "keys/key_store.ts";
const accounts = "keys/account_updates.ts";

export const mutants: ReadonlyArray<Mutant> = [
  {
    mistake: "one key too many fits into the maximum",
    file: keys,
    from: "countKeys(memory, key.scope.account) >= maxKeys",
    to: "countKeys(memory, key.scope.account) > maxKeys",
  },
  {
    mistake: "lost update: keys that are inserted at once exceed the maximum",
    file: keys,
    from: "insertKey: (write) => Effect.sync(() => insertKey(memory, write)),",
    to: `insertKey: (write) =>
        Effect.suspend(() => {
          const counted = countKeys(memory, write.key.scope.account);
          return Effect.andThen(Effect.yieldNow, Effect.sync(() => {
            const isFull = write.maxKeys !== null && counted >= write.maxKeys;
            const added = countKeys(memory, write.key.scope.account) - counted;
            return insertKey(memory, isFull || write.maxKeys === null ? write : { ...write, maxKeys: write.maxKeys + added });
          }));
        }),`,
  },
  {
    mistake: "a revoked key becomes active again",
    file: keys,
    from: `return stored?.key.status === "revoked" ? undefined : stored;`,
    to: "return stored;",
  },
  {
    mistake: "missing entry: a new key is not in the audit log",
    file: keys,
    from: `  memory.record(keyChange(write, key, "key.created"));\n`,
    to: "",
  },
  {
    mistake: "missing entry: a rotated key is not in the audit log",
    file: keys,
    from: `  memory.record(keyChange(write, stored.key, "key.rotated"));\n`,
    to: "",
  },
  {
    mistake: "wrong entry: a status change names the status before",
    file: keys,
    from: "memory.record(keyChange(write, changed.key, write.action));",
    to: "memory.record(keyChange(write, stored.key, write.action));",
  },
  {
    mistake: "a rotated key is not found by its new secret",
    file: keys,
    from: "  memory.keysByHash.set(write.hash, write.id);\n",
    to: "",
  },
  {
    mistake: "a suspended account gets an unsuspended key",
    file: keys,
    from: `const suspended = memory.accounts.get(key.scope.account)?.status === "suspended";`,
    to: "const suspended = false;",
  },
  {
    mistake: "a changed tier stays that of the keys",
    file: accounts,
    from: "  for (const { stored, key } of keys) memory.keys.set(key.id, { ...stored, key });\n",
    to: "",
  },
  {
    mistake: "accounts in the order in which they came",
    file: accounts,
    from: ".toSorted((one, other) => (one.name < other.name ? -1 : 1))",
    to: "",
  },
  {
    mistake: "ensureAccount changes the account that exists",
    file: keys,
    from: `return getOrInsert(memory.accounts, account.name, () => ({ ...account, status: "active" }));`,
    to: `memory.accounts.set(account.name, { ...account, status: "active" });
          return memory.accounts.get(account.name)!;`,
  },
];
