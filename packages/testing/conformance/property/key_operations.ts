import type { ApiKey } from "@accountlink/core";
import {
  type AccountStatus,
  type KeyAccess,
  type KeyStatus,
  type KeyStore,
  type KeyUpdate,
  scopeSettings,
  type Tier,
  type UpdateAccount,
} from "@accountlink/core/keys";
import type { DayCounts, KeyKind } from "@accountlink/core/limits";
import type { RootKeyStore } from "@accountlink/core/secrets";
import { dayMs } from "@accountlink/core/timestamp";
import type { UsageGroup, UsageStore } from "@accountlink/core/usage";
import { Effect, Option } from "effect";
import * as FastCheck from "fast-check";
import { makeKey, uniquePid, uniqueText } from "../../mod.ts";
import { ownOf } from "./link_operations.ts";
import { at, fixed, index, type OperationsOf, operation, scope, updateOf } from "./operation.ts";
import { nth } from "./subjects.ts";

const { constantFrom, integer, nat, oneof, option, record } = FastCheck;

const hash = nat(7);
const status = constantFrom<KeyStatus>("active", "disabled", "revoked");
const tier = constantFrom<Tier>("free", "premium");
const kind = constantFrom<KeyKind>("normal", "partner");
const name = constantFrom("one", "two");

const keyUpdate: FastCheck.Arbitrary<KeyUpdate> = record(
  {
    name,
    tier,
    kind,
    access: constantFrom<KeyAccess>("full", "read"),
    limits: constantFrom<ApiKey["limits"]>({}, "none", { perWindow: 3, daily: 0 }),
    allowIps: constantFrom([], ["203.0.113.7"]),
    denyIps: constantFrom([], ["2001:db8::/32"]),
    redirectOrigins: constantFrom([], ["https://example.com"]),
    expiresAt: option(at),
    status,
  },
  { requiredKeys: [] },
);

const accountUpdate: FastCheck.Arbitrary<UpdateAccount["update"]> = oneof(
  record({ tier }),
  record({ status: constantFrom<AccountStatus>("active", "suspended") }),
);

export const keyOperations = {
  "KeyStore.insertKey": operation(
    4,
    {
      scope,
      at,
      key: index,
      hash,
      parts: record({ name, tier, kind, status, expiresAt: option(at) }),
      // Null and Infinity set no maximum.
      maxKeys: oneof(nat(3), constantFrom(null, Infinity)),
    },
    ({ keys, keyIds, hashes, ...world }, { key, parts, maxKeys, ...input }) => {
      const made = { ...parts, id: nth(keyIds, key), createdAt: input.at };
      const write = { ...world.write, hash: nth(hashes, input.hash), maxKeys };
      return keys.insertKey({ ...write, key: makeKey(world.scope, made) });
    },
  ),
  "KeyStore.rotateKey": operation(
    6,
    { at, key: index, hash, previousUntil: at },
    ({ keys, keyIds, hashes, write }, { key, previousUntil, ...input }) =>
      keys.rotateKey({ ...write, id: nth(keyIds, key), hash: nth(hashes, input.hash), previousUntil }),
  ),
  "KeyStore.listAccepted": operation(1, { scope, at }, ({ keys, pid }, input) =>
    keys.listAccepted(pid, input.at),
  ),
  "KeyStore.forgetRevoked": operation(1, { at }, ({ keys }, input) => keys.forgetRevoked(input.at)),
  "KeyStore.updateKey": operation(2, { at, key: index, update: keyUpdate }, (world, { key, update }) =>
    world.keys.updateKey({ ...world.write, id: nth(world.keyIds, key), update }),
  ),
  "KeyStore.updateAccount": operation(2, { at, update: accountUpdate }, (world, { update }) =>
    Effect.map(
      world.keys.updateAccount({ ...world.write, name: world.account.name, update }),
      Option.map(({ changed, keys }) => ({ changed, keys: ownOf(world.keyIds, keys) })),
    ),
  ),
  "KeyStore.findByHash": operation(2, { hash }, ({ keys, hashes }, input) =>
    keys.findByHash(nth(hashes, input.hash)),
  ),
  "KeyStore.findById": operation(2, { key: index }, ({ keys, keyIds }, { key }) =>
    keys.findById(nth(keyIds, key)),
  ),
  "KeyStore.findDetails": operation(2, { key: index, at }, ({ keys, keyIds }, input) =>
    keys.findDetails(nth(keyIds, input.key), input.at),
  ),
  "KeyStore.listKeys": operation(2, { at, some: constantFrom("all", "living") }, ({ keys, account }, input) =>
    keys.listKeys(account.name, input.at, input.some),
  ),
  "KeyStore.acceptedAmong": fixed(({ keys, keyIds }) => keys.acceptedAmong(keyIds, 0)),
  "KeyStore.hasKeys": fixed(({ keys, account }) => keys.hasKeys(account.name)),
  "KeyStore.countKeys": fixed(({ keys, account }) => keys.countKeys(account.name)),
  "KeyStore.ensureAccount": fixed(({ keys, account }) => keys.ensureAccount(account)),
  "KeyStore.findAccount": fixed(({ keys, account }) => keys.findAccount(account.name)),
  "KeyStore.listAccounts": fixed(({ keys }) => keys.listAccounts()),
  "KeyStore.ensureScope": fixed(({ keys, account, scope: target }) =>
    keys.ensureScope(account.name, target, uniquePid()),
  ),
  "KeyStore.findScope": fixed(({ keys, account, scope: target }) => keys.findScope(account.name, target)),
  "KeyStore.findScopeByPid": fixed(({ keys, pid }) => keys.findScopeByPid(pid)),
  "KeyStore.listScopes": fixed(({ keys, account }) => keys.listScopes(account.name)),
  "RootKeyStore.find": fixed(({ rootKeys }) => rootKeys.find()),
  "RootKeyStore.adopt": fixed(({ rootKeys }) => rootKeys.adopt("root")),
  "RootKeyStore.replace": fixed(({ rootKeys }) => rootKeys.replace(uniqueText(), "root")),
} satisfies Omit<
  OperationsOf<"KeyStore", KeyStore["Service"]>,
  "KeyStore.updateSettings" | "KeyStore.renameAccount" | "KeyStore.endAccount"
> &
  OperationsOf<"RootKeyStore", RootKeyStore["Service"]>;

const day = nat(2).map((days) => days * dayMs);
const some = integer({ min: 1, max: 4 });
const counts = record({ served: some, refused: nat(2), errors: nat(2) });

/** Settings, counts and usage. */
export const usageOperations = {
  "KeyStore.updateSettings": operation(
    1,
    {
      scope,
      at,
      update: updateOf(scopeSettings),
    },
    ({ keys, write }, { update }) => keys.updateSettings({ ...write, update }),
  ),
  "DayCounts.save": operation(
    2,
    { at, window: index, endsIn: some, counted: some },
    ({ dayCounts, hashes }, { window, endsIn, counted, ...input }) =>
      dayCounts.save([{ key: nth(hashes, window), endsAt: input.at + endsIn, counted }], input.at),
  ),
  "DayCounts.load": operation(1, { at }, ({ dayCounts, hashes }, input) =>
    Effect.map(dayCounts.load(input.at), (saved) => new Set(saved.filter(({ key }) => hashes.includes(key)))),
  ),
  "UsageStore.add": operation(
    3,
    {
      key: index,
      meter: nat(1),
      sequence: some,
      day,
      group: constantFrom<UsageGroup>("session", "lookup"),
      counts,
    },
    ({ usage, keyIds, hashes }, { key, meter, group, ...input }) => {
      const id = nth(keyIds, key);
      return usage.add({
        meter: nth(hashes, meter),
        sequence: input.sequence,
        day: input.day,
        counts: [{ key: id, group, ...input.counts }],
        uses: [{ key: id, at: input.day }],
      });
    },
  ),
  "UsageStore.days": operation(1, { key: index, day }, ({ usage, keyIds }, input) =>
    usage.days({ key: nth(keyIds, input.key) }, input.day),
  ),
  "UsageStore.daysByKey": operation(1, { day }, ({ usage, account }, input) =>
    usage.daysByKey(account.name, input.day),
  ),
  "UsageStore.forget": operation(1, { day }, ({ usage }, input) => usage.forget(input.day)),
} satisfies Pick<OperationsOf<"KeyStore", KeyStore["Service"]>, "KeyStore.updateSettings"> &
  OperationsOf<"DayCounts", DayCounts["Service"]> &
  OperationsOf<"UsageStore", UsageStore["Service"]>;
