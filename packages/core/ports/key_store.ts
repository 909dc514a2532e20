/**
 * The port for accounts, the data scopes they own and the keys that open them.
 */
import { Context, type Effect, type Option } from "effect";
import type { Account, ApiKey, KeyStatus } from "../api_key.ts";
import type { AuditAction, WriteOrigin } from "../audit.ts";
import type { DataScope, ScopeTarget } from "../data_scope.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { KeyId, Pid } from "../ids.ts";
import type { Millis } from "../link.ts";

/** A key as a request presents it. */
export interface PresentedKey {
  readonly key: ApiKey;
  /** When the presented secret ends: the key's own end, or earlier for a secret that was rotated out. */
  readonly endsAt: Millis | null;
}

export interface InsertKey extends WriteOrigin {
  readonly key: ApiKey;
  /** Keyed hash of the secret. */
  readonly hash: string;
  /**
   * Of the keys of the account that count and are not revoked, how many there may be with this one; `Infinity` for any
   * number. Null for a key that does not count: it takes nobody's place, and finds one in any account.
   */
  readonly maxKeys: number | null;
  readonly at: Millis;
}

export interface RotateKey extends WriteOrigin {
  readonly id: KeyId;
  readonly hash: string;
  readonly at: Millis;
  /** Until when the secrets before it are accepted; one that ends earlier keeps its end. */
  readonly previousUntil: Millis;
}

export interface SetKeyStatus extends WriteOrigin {
  readonly id: KeyId;
  readonly status: KeyStatus;
  readonly at: Millis;
  /** What the audit log says: an owner's change, or a report by whoever holds the key. */
  readonly action: Extract<AuditAction, "key.status_changed" | "key.reported">;
}

/**
 * Where accounts, scopes and keys live. Every operation is atomic. An account that does not exist, a pid or hash that
 * is taken where a new one is due, and text that `isStorable` refuses are defects.
 */
export class KeyStore extends Context.Service<
  KeyStore,
  {
    /** The account of that name, made when there is none; one that exists is left as it is. */
    readonly ensureAccount: (account: Account) => Effect.Effect<Account, StoreUnavailable>;

    readonly findAccount: (name: string) => Effect.Effect<Option.Option<Account>, StoreUnavailable>;

    /** The account's scope for that target; made under `pid` when there is none. */
    readonly ensureScope: (
      account: string,
      target: ScopeTarget,
      pid: Pid,
    ) => Effect.Effect<DataScope, StoreUnavailable>;

    /** The account's scope for that target, when there is one. */
    readonly findScope: (
      account: string,
      target: ScopeTarget,
    ) => Effect.Effect<Option.Option<DataScope>, StoreUnavailable>;

    /** The scope of that public id. */
    readonly findScopeByPid: (pid: Pid) => Effect.Effect<Option.Option<DataScope>, StoreUnavailable>;

    /** Stores a new key. Neither a taken id or hash nor a full account changes anything. */
    readonly insertKey: (
      write: InsertKey,
    ) => Effect.Effect<"inserted" | "exists" | "too_many_keys", StoreUnavailable>;

    /** The key that a secret belongs to, whatever its status or end. */
    readonly findByHash: (hash: string) => Effect.Effect<Option.Option<PresentedKey>, StoreUnavailable>;

    readonly findById: (id: KeyId) => Effect.Effect<Option.Option<ApiKey>, StoreUnavailable>;

    /** Those of the keys that `isAccepted` holds for at a time, in any order. */
    readonly acceptedAmong: (
      ids: ReadonlyArray<KeyId>,
      at: Millis,
    ) => Effect.Effect<ReadonlyArray<KeyId>, StoreUnavailable>;

    /** The keys of an account, or of all of them, oldest first, ties by id. */
    readonly listKeys: (account: string | null) => Effect.Effect<ReadonlyArray<ApiKey>, StoreUnavailable>;

    /** Adds a secret. False when there is no such key, or it is revoked. */
    readonly rotateKey: (write: RotateKey) => Effect.Effect<boolean, StoreUnavailable>;

    /** Sets the status. A revoked key stays revoked. False when nothing changed. */
    readonly setKeyStatus: (write: SetKeyStatus) => Effect.Effect<boolean, StoreUnavailable>;
  }
>()("@accountlink/core/KeyStore") {}
