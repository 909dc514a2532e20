/** The port for accounts, their data scopes and the keys of these. */
import { Context, type Effect, type Option } from "effect";
import type { AuditAction, WriteOrigin } from "../audit/audit.ts";
import type { DataScope, ScopeTarget } from "../data_scope.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { KeyId, Pid } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { Account, AccountStatus, ApiKey, KeyDetails, NewAccount, Tier } from "./api_key.ts";
import type { KeyUpdate } from "./key_update.ts";
import type { ConfiguredScope, ScopeSettings } from "./scope_settings.ts";

/** A key that was found by one of its secrets. */
export interface PresentedKey {
  readonly key: ApiKey;
  /** When the secret expires: with the key, or earlier after a rotation; null for never. */
  readonly endsAt: Millis | null;
}

export interface UpdateAccount extends WriteOrigin {
  readonly name: string;
  /** A tier is also that of the account's normal keys. */
  readonly update: { readonly tier: Tier } | { readonly status: AccountStatus };
  readonly at: Millis;
}

/** What an update of an account changed. */
export interface AccountUpdated {
  readonly changed: boolean;
  /** The keys that changed with it. */
  readonly keys: ReadonlyArray<KeyId>;
}

export interface UpdateScope extends WriteOrigin {
  readonly pid: Pid;
  readonly update: Partial<ScopeSettings>;
  readonly at: Millis;
}

export interface InsertKey extends WriteOrigin {
  /** The store sets `suspended` by the account. */
  readonly key: ApiKey;
  /** Keyed hash of the secret. */
  readonly hash: string;
  /**
   * Maximum keys of the account, including this one, without revoked and uncounted keys; `Infinity`
   * for no limit. Null for an uncounted key.
   */
  readonly maxKeys: number | null;
  readonly at: Millis;
}

export interface RotateKey extends WriteOrigin {
  readonly id: KeyId;
  readonly hash: string;
  readonly at: Millis;
  /** When earlier secrets expire, unless they expire sooner. */
  readonly previousUntil: Millis;
}

export interface UpdateKey extends WriteOrigin {
  readonly id: KeyId;
  readonly update: KeyUpdate;
  readonly at: Millis;
  /** The audit action, unless it follows from the update. */
  readonly action?: Extract<AuditAction, "key.reported">;
}

/**
 * Where accounts, scopes and keys live. Every operation is atomic. An unknown account, a new pid or
 * hash that exists, and text that `isStorable` refuses are defects.
 */
export class KeyStore extends Context.Service<
  KeyStore,
  {
    /**
     * Returns the account of that name, or creates it. Does not change an existing one. Its `chatId` is an owner by
     * `MemberStore`, who has chosen it.
     */
    readonly ensureAccount: (account: NewAccount) => Effect.Effect<Account, StoreUnavailable>;

    readonly findAccount: (name: string) => Effect.Effect<Option.Option<Account>, StoreUnavailable>;

    /** All accounts, by name. */
    readonly listAccounts: () => Effect.Effect<ReadonlyArray<Account>, StoreUnavailable>;

    /**
     * Changes an account and those of its keys that are not revoked, with an `account.updated` entry unless nothing
     * changed. None if it is unknown.
     */
    readonly updateAccount: (
      write: UpdateAccount,
    ) => Effect.Effect<Option.Option<AccountUpdated>, StoreUnavailable>;

    /** Returns the account's scope for the target, or creates it with `pid`. */
    readonly ensureScope: (
      account: string,
      target: ScopeTarget,
      pid: Pid,
    ) => Effect.Effect<DataScope, StoreUnavailable>;

    /** The account's scope for the target. */
    readonly findScope: (
      account: string,
      target: ScopeTarget,
    ) => Effect.Effect<Option.Option<DataScope>, StoreUnavailable>;

    readonly findScopeByPid: (pid: Pid) => Effect.Effect<Option.Option<ConfiguredScope>, StoreUnavailable>;

    /** The scopes of an account, in `scopeOrder`. */
    readonly listScopes: (account: string) => Effect.Effect<ReadonlyArray<ConfiguredScope>, StoreUnavailable>;

    /** Changes settings of a scope, with an `account.updated` entry of those that differ, if any does. */
    readonly updateSettings: (write: UpdateScope) => Effect.Effect<ScopeSettings, StoreUnavailable>;

    /** Stores a new key, unless its id or hash exists or the account has too many keys. */
    readonly insertKey: (
      write: InsertKey,
    ) => Effect.Effect<"inserted" | "exists" | "too_many_keys", StoreUnavailable>;

    /** The key of a secret, whatever its status and expiry. */
    readonly findByHash: (hash: string) => Effect.Effect<Option.Option<PresentedKey>, StoreUnavailable>;

    readonly findById: (id: KeyId) => Effect.Effect<Option.Option<ApiKey>, StoreUnavailable>;

    /** @param at the time at which an earlier secret has to be accepted */
    readonly findDetails: (
      id: KeyId,
      at: Millis,
    ) => Effect.Effect<Option.Option<KeyDetails>, StoreUnavailable>;

    /** The keys for which `isAccepted` holds at a time, in any order. */
    readonly acceptedAmong: (
      ids: ReadonlyArray<KeyId>,
      at: Millis,
    ) => Effect.Effect<ReadonlyArray<KeyId>, StoreUnavailable>;

    /**
     * The keys of an account, or of all accounts with null; oldest first, ties by id.
     *
     * @param at the time at which an earlier secret has to be accepted
     */
    readonly listKeys: (
      account: string | null,
      at: Millis,
    ) => Effect.Effect<ReadonlyArray<KeyDetails>, StoreUnavailable>;

    /** How many keys count against the maximum of an account. */
    readonly countKeys: (account: string) => Effect.Effect<number, StoreUnavailable>;

    /** Adds a secret. False if the key is unknown or revoked. */
    readonly rotateKey: (write: RotateKey) => Effect.Effect<boolean, StoreUnavailable>;

    /**
     * Changes a key by `updatedKey`, unless it is unknown or revoked. A key that changes its kind counts against the
     * maximum of its account from then on if it is a normal one.
     */
    readonly updateKey: (
      write: UpdateKey,
    ) => Effect.Effect<"updated" | "unchanged" | "unknown" | "revoked", StoreUnavailable>;
  }
>()("@accountlink/core/KeyStore") {}
