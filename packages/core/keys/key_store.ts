import { Context, type Option } from "effect";
import type { AuditAction, WriteContext, WriteOrigin } from "../audit/audit.ts";
import { type DataScope, guildOf, type ScopeTarget } from "../data_scope.ts";
import type { StoreEffect } from "../errors.ts";
import type { KeyId, Pid } from "../ids.ts";
import type { ConfiguredScope, ScopeSettings } from "../scope_settings.ts";
import type { Millis } from "../timestamp.ts";
import type { Account, AccountStatus, ApiKey, KeyDetails, KeyUpdate, NewAccount, Tier } from "./api_key.ts";

/** Sorts the global scope first, then scopes by guild. @internal */
export const scopeOrder = ({ scope: one }: ConfiguredScope, { scope: other }: ConfiguredScope): number =>
  (guildOf(one) ?? "") < (guildOf(other) ?? "") ? -1 : 1;

/** A key found by one of its secrets. */
export interface PresentedKey {
  readonly key: ApiKey;
  /** When the secret expires: with its key, or earlier if a rotation replaced the secret. Null if it never expires. */
  readonly endsAt: Millis | null;
}

export interface UpdateAccount extends WriteOrigin {
  readonly name: string;
  /** The new tier or status. A new tier applies to the account and to the account's normal keys. */
  readonly update: { readonly tier: Tier } | { readonly status: AccountStatus };
  readonly at: Millis;
}

export interface RenameAccount extends WriteOrigin {
  readonly name: string;
  readonly displayName: string;
  readonly at: Millis;
}

export interface EndAccount extends WriteOrigin {
  readonly name: string;
  /** A unique name under which the audit log and the revoked keys of the account are kept. */
  readonly pseudonym: string;
  readonly at: Millis;
}

export interface InsertKey extends WriteOrigin {
  /** The key to store. Its `suspended` is ignored: the store takes it from the account. */
  readonly key: ApiKey;
  /** Keyed hash of the secret. */
  readonly hash: string;
  /**
   * The maximum number of counted keys in the account, including this key. Revoked keys are not counted. `Infinity`
   * means no limit. Null means that this key is not counted.
   */
  readonly maxKeys: number | null;
  /** How many counted keys the account may have made since a time, revoked ones too; no limit if left out. */
  readonly rate?: { readonly max: number; readonly since: Millis };
  readonly at: Millis;
}

export interface RotateKey extends WriteOrigin {
  readonly id: KeyId;
  readonly hash: string;
  readonly at: Millis;
  /** Earlier secrets of the key are accepted until this time at the latest. */
  readonly previousUntil: Millis;
  /** The new `madeBy` of the key; left out to keep it. */
  readonly madeBy?: string;
}

export interface UpdateKey extends WriteOrigin {
  readonly id: KeyId;
  readonly update: KeyUpdate;
  readonly at: Millis;
  /** The action of the audit entry. When left out, it is `key.status_changed` or `key.updated`. */
  readonly action?: Extract<AuditAction, "key.reported">;
}

/**
 * Stores accounts, scopes and keys. Every operation is atomic. Defects are a scope of an unknown account, a key in an
 * unknown scope, a new `pid` or rotated secret that exists already, and text that `isStorable` refuses.
 */
export class KeyStore extends Context.Service<
  KeyStore,
  {
    /**
     * Returns the account with this name, or creates it. An existing account stays unchanged. If the account has a
     * `chatId`, this chat user is added to `MemberStore` as an owner, with the current time as `chosenAt`.
     *
     * @param ownerHash the keyed hash of the `chatId`. If `UserStore.erase` kept this hash, the new account is suspended
     *   and the hash is deleted.
     */
    readonly ensureAccount: (account: NewAccount, ownerHash?: string) => StoreEffect<Account>;

    readonly findAccount: (name: string) => StoreEffect<Option.Option<Account>>;

    /** Returns all accounts, sorted by name. */
    readonly listAccounts: () => StoreEffect<ReadonlyArray<Account>>;

    /**
     * Changes an account and its keys, except revoked keys. If anything changed, writes an `account.updated` audit
     * entry. Returns whether anything changed, and the keys that changed with it; None if the account is unknown.
     */
    readonly updateAccount: (
      write: UpdateAccount,
    ) => StoreEffect<Option.Option<{ readonly changed: boolean; readonly keys: ReadonlyArray<KeyId> }>>;

    /**
     * Gives an account another `displayName`, with an `account.updated` audit entry; the account's `name` removes it.
     * `taken` if the name is another account's `name` or `displayName`.
     */
    readonly renameAccount: (
      write: RenameAccount,
    ) => StoreEffect<"renamed" | "unchanged" | "taken" | "unknown">;

    /**
     * Ends an account: revokes its keys, pauses its webhooks and role plans, ends its memberships and its sign-ins, and
     * keeps the rest without names under `pseudonym`, with an `account.updated` audit entry. Returns the revoked keys;
     * None if the account is unknown.
     */
    readonly endAccount: (write: EndAccount) => StoreEffect<Option.Option<ReadonlyArray<KeyId>>>;

    /** Returns the account's scope for the target, or creates it with `pid`. */
    readonly ensureScope: (account: string, target: ScopeTarget, pid: Pid) => StoreEffect<DataScope>;

    readonly findScope: (account: string, target: ScopeTarget) => StoreEffect<Option.Option<DataScope>>;

    readonly findScopeByPid: (pid: Pid) => StoreEffect<Option.Option<ConfiguredScope>>;

    /** Returns the scopes of an account, sorted by `scopeOrder`. */
    readonly listScopes: (account: string) => StoreEffect<ReadonlyArray<ConfiguredScope>>;

    /**
     * Changes settings of a scope. If any setting differs, writes an `account.updated` audit entry that lists the
     * changed settings.
     */
    readonly updateSettings: (
      write: WriteContext & { readonly update: Partial<ScopeSettings> },
    ) => StoreEffect<ScopeSettings>;

    /** Stores a new key, unless its id or hash exists, or the account has or made too many keys. */
    readonly insertKey: (
      write: InsertKey,
    ) => StoreEffect<"inserted" | "exists" | "too_many_keys" | "too_many_made">;

    /**
     * Finds a key by one of its secrets, whatever its status and expiry.
     *
     * @param id the ID in the token, by which a storage may read the key at the same time
     */
    readonly findByHash: (hash: string, id?: KeyId) => StoreEffect<Option.Option<PresentedKey>>;

    readonly findById: (id: KeyId) => StoreEffect<Option.Option<ApiKey>>;

    /** @param at the current time; replaced secrets that have expired by then are ignored */
    readonly findDetails: (id: KeyId, at: Millis) => StoreEffect<Option.Option<KeyDetails>>;

    /** Returns the given keys for which `isAccepted` holds at the given time, in any order. */
    readonly acceptedAmong: (ids: ReadonlyArray<KeyId>, at: Millis) => StoreEffect<ReadonlyArray<KeyId>>;

    /**
     * Returns the keys of an account, or of all accounts if `account` is null. The keys are sorted by age, oldest
     * first, and keys of the same age by id.
     *
     * @param at the current time; replaced secrets that have expired by then are ignored
     * @param some all keys by default, or those that are not revoked
     */
    readonly listKeys: (
      account: string | null,
      at: Millis,
      some?: "all" | "living",
    ) => StoreEffect<ReadonlyArray<KeyDetails>>;

    /** Returns the keys of a scope that `isAccepted` at a time, sorted by id. */
    readonly listAccepted: (pid: Pid, at: Millis) => StoreEffect<ReadonlyArray<ApiKey>>;

    /** Returns whether the account has a key, even a revoked one. */
    readonly hasKeys: (account: string) => StoreEffect<boolean>;

    /** Returns how many keys of the account count against its maximum. */
    readonly countKeys: (account: string) => StoreEffect<number>;

    /** Deletes keys that were revoked before a time, unless a session of theirs is stored. */
    readonly forgetRevoked: (before: Millis) => StoreEffect<void>;

    /**
     * Adds a secret, and ends all earlier ones but the last. The ended ones stay known, up to `mostSecrets` of a key.
     * Returns false if the key is unknown or revoked.
     */
    readonly rotateKey: (write: RotateKey) => StoreEffect<boolean>;

    /**
     * Changes a key as `updatedKey` does, unless the key is unknown or revoked. If the kind of the key changes, the key
     * counts against the account's maximum only if its new kind is `normal`.
     */
    readonly updateKey: (write: UpdateKey) => StoreEffect<"updated" | "unchanged" | "unknown" | "revoked">;
  }
>()("@accountlink/core/KeyStore") {}
