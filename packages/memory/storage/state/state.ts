import type { ChatId, DataScope, GuildId, KeyId, Pid } from "@accountlink/core";
import type { Membership } from "@accountlink/core/accounts";
import type { AuditAction, AuditEntry, WriteOrigin } from "@accountlink/core/audit";
import type { NewEvent } from "@accountlink/core/events";
import type { SignInChallenge, VerificationFlow } from "@accountlink/core/flow";
import type { EarlierRequest } from "@accountlink/core/idempotency";
import type { FlowId, SignInId } from "@accountlink/core/ids";
import type { Account } from "@accountlink/core/keys";
import type { DayCount } from "@accountlink/core/limits";
import type { PlanProblem, PlanSettings, Sweep } from "@accountlink/core/roles";
import type { BegunSignIn, SiteSignIn } from "@accountlink/core/sign_ins";
import type { Millis } from "@accountlink/core/timestamp";
import type { StoredDelivery, StoredWebhook, WebhookId } from "@accountlink/core/webhooks";
import { Context, Effect, Layer, Semaphore } from "effect";
import { operationsOf, type Plain } from "../../plain.ts";
import { getOrInsert } from "./get_or_insert.ts";
import { ScopeEvents } from "./scope_events.ts";
import { ScopeLinks } from "./scope_links.ts";
import type { ScopeReviews } from "./scope_reviews.ts";
import type { ScopeSightings } from "./scope_sightings.ts";
import { Sessions } from "./sessions.ts";
import type { StoredKey } from "./stored_key.ts";
import { Usage } from "./usage.ts";

export interface IdempotentEntry extends EarlierRequest {
  readonly chatIds: ReadonlyArray<ChatId>;
}

/** A change to log: an audit entry without its account and sequence number. */
export interface Change extends WriteOrigin {
  readonly at: Millis;
  readonly action: AuditAction;
  readonly scope: DataScope;
  readonly details: AuditEntry["details"];
}

/** A webhook with its deliveries and its position in the feed of events. */
export interface MemoryWebhook extends StoredWebhook {
  readonly position: number;
  /** The node that sends the deliveries of the webhook; null if no node does. */
  readonly holder: string | null;
  /** Keyed by event ID. */
  readonly deliveries: Map<string, StoredDelivery>;
}

/** A guild member with a pending change of roles, or with a nickname that the role plan set. */
export interface PlanMember {
  readonly mark: number;
  /** The pending change, or null. */
  readonly waits: { readonly since: Millis; readonly dueAt: Millis } | null;
  readonly nickname: string | null;
}

/** A role plan with its progress. */
export interface MemoryPlan {
  readonly pid: Pid;
  readonly guildId: GuildId;
  readonly settings: PlanSettings;
  readonly position: number;
  readonly revision: number;
  readonly sweptAt: Millis | null;
  readonly sweep: (Sweep & { readonly startedAt: Millis }) | null;
  /** The node that works on the plan; null if no node does. */
  readonly holder: string | null;
  readonly members: Map<ChatId, PlanMember>;
  readonly problems: Map<ChatId, ReadonlyArray<PlanProblem>>;
}

/** The state of all ports. A change is atomic, because it runs synchronously. */
export class Memory {
  readonly accounts = new Map<string, Account>();
  readonly members = new Map<string, Map<ChatId, Omit<Membership, "account">>>();
  /** Hashes of erased users who owned a suspended account. */
  readonly suspendedOwners = new Set<string>();
  /** The scopes of each account, by guild ID. The key of the global scope is null. */
  readonly scopes = new Map<string, Map<string | null, DataScope>>();
  readonly links = new Map<Pid, ScopeLinks>();
  rootKey: string | null = null;
  readonly importProgress = new Map<string, { readonly position: number; readonly savedAt: Millis }>();
  readonly keys = new Map<KeyId, StoredKey>();
  readonly keysByHash = new Map<string, KeyId>();
  readonly sessions = new Sessions();
  /** When each API key may again create a full burst of sessions. */
  readonly burstsFullAt = new Map<KeyId, Millis>();
  readonly flows = new Map<FlowId, VerificationFlow>();
  /** Sign-in challenges by the hash of their OAuth `state`. */
  readonly challenges = new Map<string, SignInChallenge>();
  readonly signIns = new Map<SignInId, SiteSignIn>();
  /** Pending sign-ins by the hash of their OAuth `state`. */
  readonly begunSignIns = new Map<string, BegunSignIn>();
  readonly sightings = new Map<Pid, ScopeSightings>();
  readonly reviews = new Map<Pid, ScopeReviews>();
  /** Requests with an idempotency key, by the hash of the key. */
  readonly idempotent = new Map<string, IdempotentEntry>();
  /** Commits and erasures take this lock, so that no erasure runs between a write and the storing of its answer. */
  readonly committing = Semaphore.makeUnsafe(1);
  /** The saved counts of limits of a day. Each map key contains the end and the key of a window. */
  readonly dayCounts = new Map<string, DayCount>();
  readonly usage = new Usage();
  readonly webhooks = new Map<WebhookId, MemoryWebhook>();
  /** When each node's lease for sending webhooks ends. A renewal sets a later end. */
  readonly webhookNodes = new Map<string, Millis>();
  /** Role plans by scope and guild: each map key is the pid and the guild ID. */
  readonly rolePlans = new Map<string, MemoryPlan>();
  /** When each node's lease for work on role plans ends. A renewal sets a later end. */
  readonly rolePlanNodes = new Map<string, Millis>();
  /** The audit entries of each account, oldest first. */
  readonly log = new Map<string, Array<AuditEntry>>();
  /** The feed of each scope that has events. */
  readonly events = new Map<Pid, ScopeEvents>();
  #lastSequence = 0;

  /** The links of a scope. Throws if the scope does not exist, as a foreign key would. */
  linksOf(pid: Pid): ScopeLinks {
    const links = this.links.get(pid);
    if (links === undefined) throw new Error(`Cannot write to scope "${pid}", expected one that exists`);
    return links;
  }

  /** Logs a change of the scope. Call before the change, since this may throw. */
  record({ scope, ...change }: Change): void {
    this.#append(change, scope.account, scope.pid);
  }

  append(pid: Pid, ...events: ReadonlyArray<NewEvent>): void {
    const feed = getOrInsert(this.events, pid, () => new ScopeEvents());
    for (const event of events) feed.append(event);
  }

  recordOfAccount(change: Omit<Change, "scope">, account: string): void {
    this.#append(change, account, null);
  }

  /** Replaces the account called `name`. Its members, scopes and audit log move to the new account's name. */
  renameAccount(name: string, account: Account): void {
    this.accounts.delete(name);
    this.accounts.set(account.name, account);
    const members = this.members.get(name);
    this.members.delete(name);
    if (members !== undefined) this.members.set(account.name, members);
    const log = this.log.get(name) ?? [];
    this.log.delete(name);
    this.log.set(
      account.name,
      log.map((entry) => ({ ...entry, account: account.name })),
    );
    const scopes = [...(this.scopes.get(name) ?? [])].map(
      ([guildId, scope]) => [guildId, { ...scope, account: account.name }] as const,
    );
    this.scopes.delete(name);
    this.scopes.set(account.name, new Map(scopes));
    for (const [, scope] of scopes) this.linksOf(scope.pid).scope = scope;
  }

  #append(
    { actor, requestId, at, action, details }: Omit<Change, "scope">,
    account: string,
    pid: Pid | null,
  ): void {
    const entry = { sequence: ++this.#lastSequence, actor, requestId, at, account, pid, action, details };
    getOrInsert(this.log, account, () => []).push(entry);
  }
}

export class State extends Context.Service<State, Memory>()("@accountlink/memory/storage/State") {
  static readonly layer = Layer.sync(State, () => new Memory());
}

/** Makes the layer of a storage port from plain functions of the state. */
export const layerOf = <Port, S extends object>(
  port: Context.Key<Port, S>,
  make: (memory: Memory) => Plain<S>,
) =>
  Layer.effect(
    port,
    Effect.map(State, (memory) => operationsOf<S>(make(memory))),
  );

/** The earliest time; null if there is none. `Math.min(...times)` would overflow the stack at 130,000 times. */
export const earliest = (times: ReadonlyArray<Millis>): Millis | null =>
  times.length === 0 ? null : times.reduce((first, time) => Math.min(first, time));
