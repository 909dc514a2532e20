import type { VerificationSession } from "@accountlink/core";
import type { SessionId } from "@accountlink/core/ids";
import type { StoredCode } from "@accountlink/core/secrets";
import { isFinal } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";

/** Sessions with the time of their last change. */
export class Sessions {
  readonly #byId = new Map<SessionId, VerificationSession>();
  /** The unfinished sessions, which are few, so that searches need not scan all sessions. */
  readonly #unfinished = new Set<SessionId>();
  /** The unfinished sessions that have a code, by the hash of the code. */
  readonly #byCode = new Map<string, { readonly id: SessionId; readonly sealedSid: string }>();
  /** The hashes of the codes of all sessions, by session ID. */
  readonly #codes = new Map<SessionId, string>();
  readonly #changedAt = new Map<SessionId, Millis>();

  find(id: SessionId): VerificationSession | undefined {
    return this.#byId.get(id);
  }

  add(session: VerificationSession, code?: StoredCode): void {
    this.#byId.set(session.id, session);
    this.#unfinished.add(session.id);
    if (code === undefined) return;
    this.#byCode.set(code.hash, { id: session.id, sealedSid: code.sealedSid });
    this.#codes.set(session.id, code.hash);
  }

  /** Finds the unfinished session whose code has this hash, and its encrypted sid. */
  findByCode(
    hash: string,
  ): { readonly session: VerificationSession; readonly sealedSid: string } | undefined {
    const found = this.#byCode.get(hash);
    return found && { session: this.#byId.get(found.id) as VerificationSession, sealedSid: found.sealedSid };
  }

  knowsCode(hash: string): boolean {
    return [...this.#codes.values()].includes(hash);
  }

  change(session: VerificationSession, at: Millis): void {
    this.#byId.set(session.id, session);
    this.#changedAt.set(session.id, at);
    if (isFinal(session.state)) this.#finish(session.id);
  }

  /** The sessions that changed at or after a time, from the list `among`, or from all sessions if it is null. */
  changedSince(at: Millis, among: ReadonlyArray<SessionId> | null): ReadonlyArray<SessionId> {
    return [...(among ?? this.#changedAt.keys())].filter(
      (id) => (this.#changedAt.get(id) ?? -Infinity) >= at,
    );
  }

  unfinished(holds: (session: VerificationSession) => boolean): ReadonlyArray<VerificationSession> {
    return Array.from(this.#unfinished, (id) => this.#byId.get(id) as VerificationSession).filter(holds);
  }

  filter(holds: (session: VerificationSession) => boolean): ReadonlyArray<VerificationSession> {
    return [...this.#byId.values()].filter(holds);
  }

  delete(id: SessionId): void {
    this.#byId.delete(id);
    this.#finish(id);
    this.#codes.delete(id);
    this.#changedAt.delete(id);
  }

  #finish(id: SessionId): void {
    this.#unfinished.delete(id);
    const code = this.#codes.get(id);
    if (code !== undefined && this.#byCode.get(code)?.id === id) this.#byCode.delete(code);
  }

  forget(before: Millis): void {
    for (const { id, expiresAt } of this.#byId.values()) {
      if (expiresAt < before && !this.#unfinished.has(id)) this.delete(id);
    }
  }
}
