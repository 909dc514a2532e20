import type { ChatId, GuildId, KeyId, Pid } from "@accountlink/core";
import type { Membership } from "@accountlink/core/accounts";
import type { Sighting } from "@accountlink/core/addresses";
import type { StoredBlock } from "@accountlink/core/admission";
import type { AltReview, Suspect } from "@accountlink/core/alts";
import type { AuditEntry, WriteContext } from "@accountlink/core/audit";
import { Conflict } from "@accountlink/core/errors";
import { type FeedEvent, type NewEvent, newEvent, sessionEnded } from "@accountlink/core/events";
import type { SignInChallenge, VerificationFlow } from "@accountlink/core/flow";
import type { LogMessage, WaitingEntry } from "@accountlink/core/guild_log";
import type { EarlierRequest, IdempotentRequest, Keyed } from "@accountlink/core/idempotency";
import type { FlowId, SessionId, SignInId } from "@accountlink/core/ids";
import type { Account, ApiKey } from "@accountlink/core/keys";
import type { DayCount } from "@accountlink/core/limits";
import type { BatchImported, LinkRecord, StoredImport, UndoableImport } from "@accountlink/core/links";
import type { PlanPlace, PlanProblem, PlanSettings, StoredPreview, Sweep } from "@accountlink/core/roles";
import type { StoredCode } from "@accountlink/core/secrets";
import type { VerificationSession } from "@accountlink/core/sessions";
import type { BegunSignIn, SiteSignIn } from "@accountlink/core/sign_ins";
import type { Millis } from "@accountlink/core/timestamp";
import type { KeyUsage, UsageBatch, UsagePeriod } from "@accountlink/core/usage";
import type { StoredDelivery, StoredWebhook, WebhookId } from "@accountlink/core/webhooks";
import { Context, Effect, Layer, Semaphore } from "effect";
import { getOrInsert } from "../get_or_insert.ts";
import { operationsOf, type Plain } from "../plain.ts";
import { ScopeLinks } from "./scope_links.ts";

/** The content of an audit entry. */
export type Change = Omit<WriteContext, "pid"> & Pick<AuditEntry, "action" | "details">;

/** A key with its secrets, the newest last. A secret whose `endsAt` is null expires with its key. */
export interface StoredKey {
  readonly key: ApiKey;
  /** Whether the key counts against its account's maximum until it is revoked. */
  readonly counts: boolean;
  readonly secrets: ReadonlyArray<{ readonly hash: string; readonly endsAt: Millis | null }>;
  readonly lastUsedAt: Millis | null;
  readonly revokedAt: Millis | null;
}

export interface StoredSession {
  readonly session: VerificationSession;
  readonly code: StoredCode | undefined;
  /** The time of the last change; null before the first. */
  readonly changedAt: Millis | null;
}

export interface StoredSighting {
  readonly pid: Pid;
  readonly sighting: Sighting;
  readonly firstSeenAt: Millis;
}

/** The feed of a scope. */
interface Feed {
  events: Array<FeedEvent>;
  /** The position of the newest deleted event; 0 before the first deletion. */
  start: number;
  end: number;
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

/** An import with its files: the parts of each file by its name. */
export interface MemoryImport extends StoredImport {
  readonly holder: string;
  readonly heldUntil: Millis;
  readonly begunAt: Millis;
  readonly expiresAt: Millis;
  readonly files: Map<string, Array<Uint8Array>>;
}

/** What an import did to one chat user: the record as the import left it, and as it was before. */
export interface MadeLink {
  readonly made: LinkRecord;
  readonly before: LinkRecord | undefined;
}

/** What the batches of one file did, for its audit entry and its undo. */
export interface MemoryLinkImport
  extends Pick<UndoableImport, "id" | "pid" | "name" | "importedAt" | "endsAt"> {
  readonly counts: BatchImported;
  /** The sequence number of the audit entry; null before the first changed record. */
  readonly entry: number | null;
  readonly undone: { readonly entry: number; readonly removed: number; readonly restored: number } | null;
  /** Keyed by chat ID. */
  readonly links: Map<ChatId, MadeLink>;
}

/** A role plan with its progress. */
export interface MemoryPlan {
  readonly pid: Pid;
  readonly guildId: GuildId;
  readonly settings: PlanSettings;
  readonly position: number;
  readonly revision: number;
  readonly sweptAt: Millis | null;
  /** Null while the plan is on, and if it was never on. */
  readonly pausedAt: Millis | null;
  readonly sweep: (Sweep & { readonly startedAt: Millis }) | null;
  /** The node that works on the plan; null if no node does. */
  readonly holder: string | null;
  readonly members: Map<ChatId, PlanMember>;
  /** By chat ID; problems of the plan have none. */
  readonly problems: Map<ChatId | "", ReadonlyArray<PlanProblem>>;
}

export interface MemoryLogMessage extends LogMessage {
  readonly at: Millis;
  readonly erasedAt: Millis | null;
  readonly editAt: Millis | null;
}

/** The log of a plan. */
export interface MemoryLog extends PlanPlace {
  readonly channelId: string | null;
  readonly position: number;
  readonly closedAt: Millis | null;
  readonly problems: ReadonlyArray<string>;
  /** The node that works on the log; null if no node does. */
  holder: string | null;
  entries: Array<WaitingEntry>;
  readonly messages: Map<string, MemoryLogMessage>;
}

/** The state of all ports. A change is atomic, because it runs synchronously. */
export class Memory {
  readonly accounts = new Map<string, Account>();
  readonly members = new Map<string, Map<ChatId, Omit<Membership, "account">>>();
  /** Hashes of erased users who owned a suspended account. */
  readonly suspendedOwners = new Set<string>();
  readonly links = new Map<Pid, ScopeLinks>();
  rootKey: string | null = null;
  readonly importProgress = new Map<string, { readonly position: number; readonly savedAt: Millis }>();
  /** Imports by the name of their account. */
  readonly imports = new Map<string, MemoryImport>();
  /** What the imports of the last day did, by the ID of the import. */
  readonly linkImports = new Map<string, MemoryLinkImport>();
  readonly keys = new Map<KeyId, StoredKey>();
  readonly keysByHash = new Map<string, KeyId>();
  readonly sessions = new Map<SessionId, StoredSession>();
  /** When each API key may again create a full burst of sessions. */
  readonly burstsFullAt = new Map<KeyId, Millis>();
  readonly flows = new Map<FlowId, VerificationFlow>();
  /** Sign-in challenges by the hash of their OAuth `state`. */
  readonly challenges = new Map<string, SignInChallenge>();
  readonly signIns = new Map<SignInId, SiteSignIn>();
  /** Pending sign-ins by the hash of their OAuth `state`. */
  readonly begunSignIns = new Map<string, BegunSignIn>();
  /** Sightings by scope, chat user and place: each map key is the pid, the chat ID and the hash of the place. */
  readonly sightings = new Map<string, StoredSighting>();
  /** Reviews by scope and pair of chat users. */
  readonly reviews = new Map<string, { readonly pid: Pid; readonly review: AltReview }>();
  /** Users whom new links resemble, by scope and pair of chat users. */
  readonly suspects = new Map<string, { readonly pid: Pid; readonly suspect: Suspect }>();
  /** Blocks by scope and hash. */
  readonly blocks = new Map<Pid, Map<string, StoredBlock>>();
  /** Requests with an idempotency key, by the hash of the key. */
  readonly idempotent = new Map<string, EarlierRequest & Pick<IdempotentRequest, "chatIds">>();
  /** Commits and erasures take this lock, so that no erasure runs between a write and the storing of its answer. */
  readonly committing = Semaphore.makeUnsafe(1);
  /** The saved counts of limits of a day. Each map key contains the end and the key of a window. */
  readonly dayCounts = new Map<string, DayCount>();
  /** The usage of API keys by UTC day, key and group of routes. */
  readonly usage = new Map<string, UsagePeriod & KeyUsage>();
  /** The last batch of each `UsageMeter`, by the ID of the meter. */
  readonly meters = new Map<string, Pick<UsageBatch, "sequence" | "day">>();
  readonly webhooks = new Map<WebhookId, MemoryWebhook>();
  /** When each node's lease for sending webhooks ends. A renewal sets a later end. */
  readonly webhookNodes = new Map<string, Millis>();
  /** Role plans by scope and guild: each map key is the pid and the guild ID. */
  readonly rolePlans = new Map<string, MemoryPlan>();
  /** The previews of role plans, as the plans' names. */
  readonly rolePreviews = new Map<string, StoredPreview>();
  /** When each node's lease for work on role plans ends. A renewal sets a later end. */
  readonly rolePlanNodes = new Map<string, Millis>();
  /** Logs, by the names of their plans. */
  readonly guildLogs = new Map<string, MemoryLog>();
  /** When each node's lease for work on logs ends. A renewal sets a later end. */
  readonly guildLogNodes = new Map<string, Millis>();
  /** The messages of panels: each map key is the name of the plan and the channel ID. */
  readonly panels = new Map<string, string>();
  /** The audit entries of all accounts, oldest first. */
  log: Array<AuditEntry> = [];
  readonly events = new Map<Pid, Feed>();
  #lastSequence = 0;

  /** The links of a scope. Throws if the scope does not exist, as a foreign key would. */
  linksOf(pid: Pid): ScopeLinks {
    const links = this.links.get(pid);
    if (links === undefined) throw new Error(`Cannot write to scope "${pid}", expected one that exists`);
    return links;
  }

  /** The blocks of a scope. Throws if the scope does not exist. */
  blocksOf(pid: Pid): Map<string, StoredBlock> {
    this.linksOf(pid);
    return getOrInsert(this.blocks, pid, () => new Map());
  }

  /** Logs a change of a scope, and returns the entry's number. Call before the change, since this may throw. */
  record({ pid, ...change }: Change & { readonly pid: Pid }): number {
    return this.recordOfAccount(change, this.linksOf(pid).scope.account, pid);
  }

  recordOfAccount(change: Change, account: string, pid: Pid | null = null): number {
    const { actor, requestId, at, action, details } = change;
    const sequence = ++this.#lastSequence;
    this.log.push({ sequence, actor, requestId, at, account, pid, action, details });
    return sequence;
  }

  /** Changes the details of an entry, unless the log has lost it. */
  amend(sequence: number, details: AuditEntry["details"]): void {
    const index = this.log.findLastIndex((entry) => entry.sequence === sequence);
    const entry = this.log[index];
    if (entry !== undefined) this.log[index] = { ...entry, details };
  }

  append(pid: Pid, ...events: ReadonlyArray<NewEvent>): void {
    const feed = getOrInsert(this.events, pid, () => ({ events: [], start: 0, end: 0 }));
    for (const event of events) feed.events.push({ ...event, position: ++feed.end });
  }

  /** Stores a changed session, and appends the event of its end. */
  changeSession(session: VerificationSession, at: Millis): void {
    const code = this.sessions.get(session.id)?.code;
    this.sessions.set(session.id, { session, code, changedAt: at });
    this.append(session.pid, ...sessionEnded(session).map((end) => newEvent(at, end)));
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

/** Runs a write, which may throw a `Conflict`. */
const attempt = <O>(run: () => O): Effect.Effect<O, Conflict> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(run());
    } catch (error) {
      return error instanceof Conflict ? Effect.fail(error) : Effect.die(error);
    }
  });

/** Makes a write that keeps its idempotency key and its answer. A `Conflict` that it throws is its failure. */
export const keyedWrite =
  <O, W extends Keyed<O>>(memory: Memory, run: (write: W) => O) =>
  (write: W): Effect.Effect<O, Conflict> => {
    const { once } = write;
    if (once === undefined) return attempt(() => run(write));
    const { id, at, fingerprint, chatIds, endsAt, answerOf } = once;
    const keep = Effect.gen(function* () {
      const earlier = memory.idempotent.get(id);
      if (earlier !== undefined && at < earlier.endsAt) {
        return yield* new Conflict({ reason: "idempotency_key_in_use" });
      }
      const outcome = yield* attempt(() => run(write));
      const kept = answerOf(outcome);
      if (kept === null) return outcome;
      const { answer, chatIds: named } = yield* kept;
      memory.idempotent.set(id, { fingerprint, endsAt, answer, chatIds: [...chatIds, ...named] });
      return outcome;
    });
    return Effect.uninterruptible(memory.committing.withPermits(1)(keep));
  };

/** The earliest time; null if there is none. `Math.min(...times)` would overflow the stack at 130,000 times. */
export const earliest = (times: ReadonlyArray<Millis>): Millis | null =>
  times.length === 0 ? null : times.reduce((first, time) => Math.min(first, time));
