import { Context, type Option } from "effect";
import type { Membership } from "../accounts/member_store.ts";
import type { AltReview } from "../alts/alt_review_store.ts";
import type { UserSightings } from "../alts/sighting_store.ts";
import type { UserSuspect } from "../alts/suspect_store.ts";
import type { AuditEntry, WriteOrigin } from "../audit/audit.ts";
import type { DataScope } from "../data_scope.ts";
import type { StoreEffect } from "../errors.ts";
import type { UserEntry, UserMessage } from "../guild_log/guild_log_store.ts";
import type { ChatId, KeyId, Pid } from "../ids.ts";
import type { ImportedLink } from "../imports/link_imports.ts";
import type { Account } from "../keys/api_key.ts";
import type { LinkRecord } from "../links/link.ts";
import type { UserPreview, UserRoles } from "../roles/mod.ts";
import type { Millis } from "../timestamp.ts";

export interface ScopedRecord {
  readonly scope: DataScope;
  readonly record: LinkRecord;
}

/** The fields of a record that a download shows. @internal */
export type DownloadedRecord = { readonly pid?: Pid } & { readonly [field: string]: unknown };

/** The data of a user. Lists without another order are sorted by time, ties by id. */
export interface UserRecords extends UserSightings {
  /** Accounts with the user's chat ID, sorted by name. */
  readonly accounts: ReadonlyArray<Account>;
  /** The user's roles in accounts: active accounts first, then the most recently chosen, then by name. */
  readonly memberships: ReadonlyArray<Membership>;
  /** Link records, sorted by pid. */
  readonly records: ReadonlyArray<ScopedRecord>;
  /** Reviews of pairs that include the user, sorted by pid, newest first. */
  readonly reviews: ReadonlyArray<{ readonly pid: Pid; readonly review: AltReview }>;
  /** Nicknames that role plans set, and problems with the user's roles, sorted by pid and guild. */
  readonly roles: ReadonlyArray<UserRoles>;
  /** What previews say of the user, by pid and guild. */
  readonly previews: ReadonlyArray<UserPreview>;
  /** Messages in log channels that name the user, sorted by pid, guild and ID. */
  readonly messages: ReadonlyArray<UserMessage>;
  /** What logs have still to tell about the user, by pid and guild. */
  readonly logEntries: ReadonlyArray<UserEntry>;
  /** Pairs of a new link and a likely alt that name the user, newest first. */
  readonly suspects: ReadonlyArray<UserSuspect>;
  /** What imports that can be undone did to the user's links, by pid, newest first. */
  readonly imports: ReadonlyArray<ImportedLink & { readonly pid: Pid }>;
  /** The records of types that say how a download shows them, by their names there, each in the order of its index. */
  readonly downloads: Readonly<Record<string, ReadonlyArray<DownloadedRecord>>>;
}

/** An erasure of which a part is done, because a node stopped before its end. */
export interface UnfinishedErasure extends WriteOrigin {
  readonly chatId: ChatId;
}

export interface EraseUser extends WriteOrigin {
  readonly chatId: ChatId;
  readonly at: Millis;
  /** The scopes in which a record of the user was found. */
  readonly scopes: ReadonlyArray<Pid>;
  /**
   * A unique name that replaces the name of the user's account. If the user has several accounts, the others get this
   * name with a number appended.
   */
  readonly pseudonym: string;
  /** The keyed hash of the `chatId`. */
  readonly ownerHash: string;
}

/** Counts of the erased data. */
export interface UserErased {
  readonly records: number;
  /** The number of addresses at which the user was seen. An address counts once for each scope. */
  readonly sightings: number;
  /** The number of browsers in which the user was seen. A browser counts once for each scope. */
  readonly browsers: number;
  readonly reviews: number;
  /** The number of audit entries that named the user. */
  readonly entries: number;
  /** The number of messages in log channels that named the user. They are edited afterwards. */
  readonly messages: number;
  readonly accounts: number;
  readonly revokedKeys: ReadonlyArray<KeyId>;
}

/** After how long without a step an erasure counts as interrupted, in milliseconds. @internal */
export const unfinishedAfter = 60_000;

/** Finds and erases the data of a user in every scope. */
export class UserStore extends Context.Service<
  UserStore,
  {
    /** Returns the data of a user, except for `entries`. */
    readonly find: (chatId: ChatId) => StoreEffect<UserRecords>;

    /**
     * Returns up to `limit` audit entries that name the user or one of their accounts, oldest first. An empty page is the
     * last one; others may have fewer entries than `limit`.
     *
     * @param after the last entry of the page before; null for the first page
     */
    readonly entries: (
      chatId: ChatId,
      after: AuditEntry | null,
      limit: number,
    ) => StoreEffect<ReadonlyArray<AuditEntry>>;

    /** Returns only the `records` of a user, without reading the audit log. */
    readonly findRecords: (chatId: ChatId) => StoreEffect<ReadonlyArray<ScopedRecord>>;

    /**
     * Erases the user from every scope: in one transaction, or a user with much data in steps, the last of which ends the
     * erasure. It deletes records, sightings, reviews, final sessions, and
     * the nicknames of role plans. It takes the user out of the messages of logs, see `GuildLogStore`. It voids proofs,
     * and sets open sessions to `failed` without naming the user. In the audit log, `[erased]` replaces the user. The
     * user's memberships end. The user's accounts lose their chat ID and name, the keys of these accounts are revoked,
     * their invitations end, and their other members are signed out. An account that the service named after the user, and
     * whose chat ID the user is no more, loses this name alone, and its members are signed out. An account of which the
     * user is the last owner or admin closes, as in `MemberStore.change`. If the user owns a suspended account, `ownerHash`
     * is kept for `KeyStore.ensureAccount`.
     *
     * Stores a `user.erased` entry for each affected scope and account. None, without ending the erasure, if the user has
     * a record in a scope that is not in `scopes`.
     */
    readonly erase: (write: EraseUser) => StoreEffect<Option.Option<UserErased>>;

    /**
     * Returns erasures in steps that were interrupted: begun, not ended, and without a step for `unfinishedAfter`. To end
     * one, call `erase` again.
     */
    readonly unfinished: (now: Millis) => StoreEffect<ReadonlyArray<UnfinishedErasure>>;
  }
>()("@accountlink/core/UserStore") {}
