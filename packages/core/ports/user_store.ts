/**
 * The port for all that is kept about one chat user, in every scope.
 */
import { Context, type Effect, type Option } from "effect";
import type { Account } from "../api_key.ts";
import type { AuditEntry, WriteOrigin } from "../audit.ts";
import type { DataScope } from "../data_scope.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, KeyId, Pid } from "../ids.ts";
import type { LinkRecord, Millis } from "../link.ts";
import type { Sighting } from "../sighting.ts";
import type { VerificationFlow } from "../verification_flow.ts";
import type { VerificationSession } from "../verification_session.ts";

/** What is kept about a chat user. */
export interface UserRecords {
  /** Accounts that the user can sign in to. */
  readonly accounts: ReadonlyArray<Account>;
  /** Each with the scope that it is in. */
  readonly records: ReadonlyArray<{ readonly scope: DataScope; readonly record: LinkRecord }>;
  readonly sightings: ReadonlyArray<{ readonly pid: Pid; readonly sighting: Sighting }>;
  /** Sessions that are for the user, or that the user completed. */
  readonly sessions: ReadonlyArray<VerificationSession>;
  /** Flows in which a browser has proven to be the user. */
  readonly flows: ReadonlyArray<VerificationFlow>;
  /** Entries of the audit log that name the user or an account of theirs, oldest first. */
  readonly entries: ReadonlyArray<AuditEntry>;
}

export interface EraseUser extends WriteOrigin {
  readonly chatId: ChatId;
  readonly at: Millis;
  /** The scopes in which the user was found to have a record. */
  readonly scopes: ReadonlyArray<Pid>;
  /** A text that was never used before: the new name of an account of the user. */
  readonly pseudonym: string;
}

/** What was erased. */
export interface UserErased {
  readonly records: number;
  readonly sightings: number;
  /** Entries of the audit log that named the user. */
  readonly entries: number;
  readonly accounts: number;
  /** Keys that were revoked. */
  readonly revokedKeys: ReadonlyArray<KeyId>;
}

/** Where everything about a user is found and erased. */
export class UserStore extends Context.Service<
  UserStore,
  {
    readonly find: (chatId: ChatId) => Effect.Effect<UserRecords, StoreUnavailable>;

    /**
     * Erases the user from every scope, at once: records and sightings are deleted, proofs are taken out of flows, unfinished
     * sessions end as `failed` and name the user no more, final ones are deleted. The user becomes `[erased]` in the
     * audit log. An account of the user loses its chat ID and its name, and its keys are revoked for good.
     *
     * The audit log gains a `user.erased` for each scope that something was erased from, and for each account. A user of
     * whom nothing is kept leaves none. None, and no change, when there is a record in another scope than `scopes`.
     */
    readonly erase: (write: EraseUser) => Effect.Effect<Option.Option<UserErased>, StoreUnavailable>;
  }
>()("@accountlink/core/UserStore") {}
