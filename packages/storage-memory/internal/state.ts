import type {
  Account,
  ApiKey,
  AuditAction,
  AuditEntry,
  DataScope,
  FlowId,
  KeyId,
  Millis,
  Pid,
  Sighting,
  SignInChallenge,
  VerificationFlow,
  WriteOrigin,
} from "@accountlink/core";
import { Context, Layer } from "effect";
import { ScopeLinks } from "./scope_links.ts";
import { Sessions } from "./sessions.ts";
import { assertStorable } from "./storable_text.ts";

/** One secret of a key, of which only the hash is kept. */
export interface Secret {
  readonly hash: string;
  /** When it ends, or null if it lasts as long as its key. */
  endsAt: Millis | null;
}

/** A key and the secrets that open it, the newest last. */
export interface StoredKey {
  key: ApiKey;
  /** Whether it counts against the number of its account. */
  readonly counts: boolean;
  readonly secrets: Array<Secret>;
}

/** What is changed, by whom, and when: an entry of the log that has no sequence yet. */
export interface Change extends WriteOrigin {
  readonly at: Millis;
  readonly action: AuditAction;
  readonly scope: DataScope;
  readonly details: AuditEntry["details"];
}

/** Everything that the ports store. One synchronous step on it is atomic: nothing else runs in between. */
export class Memory {
  readonly accounts = new Map<string, Account>();
  /** The scopes of each account, by guild; a global one is under null. */
  readonly scopes = new Map<string, Map<string | null, DataScope>>();
  readonly links = new Map<Pid, ScopeLinks>();
  rootKey: string | null = null;
  readonly importProgress = new Map<string, { readonly position: number; readonly savedAt: Millis }>();
  readonly keys = new Map<KeyId, StoredKey>();
  readonly keysByHash = new Map<string, { readonly stored: StoredKey; readonly secret: Secret }>();
  readonly sessions = new Sessions();
  /** When each key can again create as many sessions at once as it ever can. */
  readonly burstsFullAt = new Map<KeyId, Millis>();
  readonly flows = new Map<FlowId, VerificationFlow>();
  /** By their `state`. */
  readonly challenges = new Map<string, SignInChallenge>();
  /** The sightings of each scope, by chat user and address. */
  readonly sightings = new Map<Pid, Map<string, Sighting>>();
  /** Until when each node lives. */
  readonly nodes = new Map<string, Millis>();
  /** The saved count of each window, by its end and key. */
  readonly windows = new Map<string, { readonly endsAt: Millis; readonly counted: number }>();
  /** The log of each account, oldest first. */
  readonly log = new Map<string, Array<AuditEntry>>();
  #lastSequence = 0;

  /** The links of a scope that must exist, as a foreign key would ask. */
  linksOf(pid: Pid): ScopeLinks {
    const links = this.links.get(pid);
    if (links === undefined) throw new Error(`Cannot write to scope "${pid}", expected one that exists`);
    return links;
  }

  /** Logs a change of the scope. It comes before the change itself, because it may refuse. */
  record({ scope, ...change }: Change): void {
    this.#append(change, scope.account, scope.pid);
  }

  /** Logs a change of an account. */
  recordOfAccount(change: Omit<Change, "scope">, account: string): void {
    this.#append(change, account, null);
  }

  /** Puts an account in the place of the one of that name, with its scopes and its log. */
  renameAccount(name: string, account: Account): void {
    this.accounts.delete(name);
    this.accounts.set(account.name, account);
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
    assertStorable(actor.id, requestId ?? "");
    const entry = { sequence: ++this.#lastSequence, actor, requestId, at, account, pid, action, details };
    const log = this.log.get(account);
    if (log === undefined) this.log.set(account, [entry]);
    else log.push(entry);
  }
}

/** The state that the layers of the ports share. */
export class State extends Context.Service<State, Memory>()("@accountlink/storage-memory/State") {
  static readonly layer = Layer.sync(State, () => new Memory());
}
