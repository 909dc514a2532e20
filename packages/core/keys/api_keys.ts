import { Clock, Context, Effect, Layer, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import { parseNetwork } from "../addresses/client_address.ts";
import type { WriteOrigin } from "../audit/audit.ts";
import type { ScopeTarget } from "../data_scope.ts";
import { Conflict, InvalidParameter, type ParameterProblem, type StoreUnavailable } from "../errors.ts";
import type { KeyId, Pid } from "../ids.ts";
import { Limits } from "../limits/quota.ts";
import { keysPerDay } from "../limits/request_limits.ts";
import { expectedVisibleName, isVisibleName } from "../name_text.ts";
import { isOrigin } from "../origin.ts";
import { Secrets } from "../secrets/secrets.ts";
import { dayMs } from "../timestamp.ts";
import {
  type Account,
  type ApiKey,
  generateToken,
  type KeyDetails,
  type KeyUpdate,
  keyIdOf,
  type NewAccount,
  randomText,
} from "./api_key.ts";
import { KeyChanges } from "./key_changes.ts";
import { KeyStore, type UpdateKey } from "./key_store.ts";

/** The fields of a new key. The tier defaults to the account's tier. */
export interface NewKey extends KeyUpdate {
  /** The account; one that is not read from the store is created if it does not exist. */
  readonly account: NewAccount | Account;
  readonly target: ScopeTarget;
}

/** A key with its full secret, which cannot be read again. */
export interface IssuedKey {
  readonly key: KeyDetails;
  readonly token: string;
}

/** Manages keys. Every change is written to the audit log and reaches every node within a second. */
export class ApiKeys extends Context.Service<ApiKeys>()("@accountlink/core/ApiKeys", {
  make: Effect.gen(function* () {
    const store = yield* KeyStore;
    const { announce } = yield* KeyChanges;
    const secrets = yield* Secrets;
    const limits = yield* Limits;
    const random = yield* SecureRandom.SecureRandom;
    const withRandom = Effect.provideService(SecureRandom.SecureRandom, random);

    /** An account that was read from the store is not made again, since its owner may have been erased meanwhile. */
    const ensureOwner = Effect.fnUntraced(function* (account: NewAccount | Account, target: ScopeTarget) {
      const owner =
        "status" in account
          ? Option.getOrNull(yield* store.findAccount(account.name))
          : yield* store.ensureAccount(account);
      if (owner === null) return yield* new Conflict({ reason: "account_suspended" });
      const pid = `pid_${yield* randomText(random, 20, 36)}` as Pid;
      return { owner, scope: yield* store.ensureScope(owner.name, target, pid) };
    });

    const recordOf = Effect.fnUntraced(function* (
      id: KeyId,
      choice: NewKey,
      { actor }: WriteOrigin,
    ): Effect.fn.Return<ApiKey, InvalidParameter | Conflict | StoreUnavailable> {
      const { account, target, ...chosen } = choice;
      // Accounts of earlier releases and fixtures may have invisible names.
      if (!("status" in account) && !isVisibleName(account.name)) {
        return yield* InvalidParameter.one("account", `expected ${expectedVisibleName}`);
      }
      yield* checkTexts(chosen);
      const { owner, scope } = yield* ensureOwner(account, target);
      return {
        name: "",
        tier: account.tier,
        kind: "normal",
        access: "full",
        status: "active",
        suspended: owner.status === "suspended",
        expiresAt: null,
        limits: {},
        allowIps: [],
        denyIps: [],
        redirectOrigins: [],
        madeBy: actor.type === "account" ? actor.member : null,
        ...chosen,
        id,
        scope,
        createdAt: yield* Clock.currentTimeMillis,
      } satisfies ApiKey;
    });

    const create = Effect.fn("ApiKeys.create")(function* (
      choice: NewKey,
      origin: WriteOrigin,
    ): Effect.fn.Return<IssuedKey, InvalidParameter | Conflict | StoreUnavailable> {
      const { id, token } = yield* withRandom(generateToken());
      const key = yield* recordOf(id, choice, origin);
      const maxKeys = limits[choice.account.tier].keys || Infinity;
      const inserted = yield* store.insertKey({
        ...origin,
        key,
        hash: yield* secrets.keyHash(token),
        maxKeys: key.kind === "normal" ? maxKeys : null,
        ...(origin.actor.type !== "operator" && {
          rate: { max: keysPerDay, since: key.createdAt - (key.createdAt % dayMs) },
        }),
        at: key.createdAt,
      });
      if (inserted === "too_many_keys") return yield* new Conflict({ reason: "key_limit" });
      if (inserted === "too_many_made") return yield* new Conflict({ reason: "key_rate" });
      if (inserted === "exists") return yield* create(choice, origin);
      return { key: { ...key, lastUsedAt: null, previousSecretEndsAt: null, revokedAt: null }, token };
    });

    const revoke = Effect.fn("ApiKeys.revoke")(function* (
      id: KeyId,
      origin: Pick<UpdateKey, keyof WriteOrigin | "action">,
    ) {
      const at = yield* Clock.currentTimeMillis;
      const outcome = yield* store.updateKey({ ...origin, id, update: { status: "revoked" }, at });
      yield* announce(id);
      return outcome === "updated";
    });

    return {
      /**
       * Creates a key in the account's scope for the target. Fails with `Conflict` `key_limit` if the account already has
       * as many keys as its plan allows, and with `key_rate` if it has 20 keys of this UTC day, unless the operator makes
       * the key. Concurrent creations cannot exceed these numbers.
       */
      create,

      /**
       * Stores a key with the given token. The key does not count against the plan's maximum number of keys.
       *
       * @param token the full key
       * @returns false if the key is already stored
       */
      adopt: Effect.fn("ApiKeys.adopt")(function* (token: string, choice: NewKey, origin: WriteOrigin) {
        const id = keyIdOf(token);
        if (id === null)
          return yield* InvalidParameter.one("key", 'expected "alk_", 12 characters, "_" and 43 more');
        const key = yield* recordOf(id, choice, origin);
        const hash = yield* secrets.keyHash(token);
        const inserted = yield* store.insertKey({ ...origin, key, hash, maxKeys: null, at: key.createdAt });
        return inserted === "inserted";
      }),

      /**
       * Gives the key a new secret and returns the full key. None for an unknown or revoked key.
       *
       * @param graceSeconds how long earlier secrets stay accepted
       */
      rotate: Effect.fn("ApiKeys.rotate")(function* (id: KeyId, graceSeconds: number, origin: WriteOrigin) {
        const { token } = yield* withRandom(generateToken(id));
        const at = yield* Clock.currentTimeMillis;
        const rotated = yield* store.rotateKey({
          ...origin,
          id,
          hash: yield* secrets.keyHash(token),
          at,
          previousUntil: at + graceSeconds * 1000,
          ...(origin.actor.type === "account" && { madeBy: origin.actor.member }),
        });
        if (!rotated) return Option.none();
        yield* announce(id);
        return Option.some(token);
      }),

      /**
       * Changes a key and returns whether anything changed. None for an unknown key; `Conflict` `key_revoked` for a
       * revoked key.
       */
      update: Effect.fn("ApiKeys.update")(function* (id: KeyId, changes: KeyUpdate, origin: WriteOrigin) {
        yield* checkTexts(changes);
        const at = yield* Clock.currentTimeMillis;
        const outcome = yield* store.updateKey({ ...origin, id, update: changes, at });
        if (outcome === "revoked") return yield* new Conflict({ reason: "key_revoked" });
        if (outcome === "updated") yield* announce(id);
        return outcome === "unknown" ? Option.none() : Option.some(outcome === "updated");
      }),

      /** Revokes a key permanently. Returns false if it is unknown or already revoked. */
      revoke,

      /** Revokes a leaked key, unless it is unknown or a rotation ended the leaked secret. */
      reportLeaked: Effect.fn("ApiKeys.reportLeaked")(function* (reported: string, requestId: string) {
        // A key that is copied from a file or a page often has white space around it.
        const token = reported.trim();
        if (keyIdOf(token) === null) return "unknown";
        const found = yield* store.findByHash(yield* secrets.keyHash(token));
        const at = yield* Clock.currentTimeMillis;
        if (Option.isNone(found)) return "unknown";
        const { key, endsAt } = found.value;
        const { id, status, expiresAt } = key;
        // An expired key is revoked too, since its owner may give it a later end.
        if (endsAt !== null && endsAt <= at && endsAt !== expiresAt) return "ended";
        if (status === "revoked") return "revoked";
        yield* revoke(id, { actor: { type: "key", id }, requestId, action: "key.reported" });
        return "revoked";
      }),

      /**
       * Returns the account's scope for the target. Creates the scope if it does not exist, and an account that was not
       * read from the store.
       */
      scopeOf: Effect.fn("ApiKeys.scopeOf")((account: NewAccount | Account, target: ScopeTarget) =>
        Effect.map(ensureOwner(account, target), ({ scope }) => scope),
      ),
    };
  }),
}) {
  static readonly layer = Layer.effect(ApiKeys, ApiKeys.make).pipe(Layer.provide(KeyChanges.layer));
}

const areNetworks = (entries: ReadonlyArray<string> = []): boolean =>
  entries.every((entry) => Option.isSome(parseNetwork(entry)));

const checkTexts = ({
  name = "",
  allowIps,
  denyIps,
  redirectOrigins = [],
}: Pick<KeyUpdate, "name" | "allowIps" | "denyIps" | "redirectOrigins">): Effect.Effect<
  void,
  InvalidParameter
> => {
  const problems: Array<ParameterProblem> = [];
  const check = (parameter: string, isRight: boolean, reason: string) => {
    if (!isRight) problems.push({ name: parameter, reason });
  };
  check("name", name === "" || isVisibleName(name), `expected ${expectedVisibleName}`);
  check("allowIps", areNetworks(allowIps), "expected addresses or CIDRs");
  check("denyIps", areNetworks(denyIps), "expected addresses or CIDRs");
  check("redirectOrigins", redirectOrigins.every(isOrigin), 'expected origins such as "https://example.com"');
  return problems.length === 0 ? Effect.void : new InvalidParameter({ parameters: problems });
};
