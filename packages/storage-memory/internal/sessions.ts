import { isFinal, type Millis, type SessionId, type VerificationSession } from "@accountlink/core";

/** The sessions, and when each last changed. */
export class Sessions {
  readonly #byId = new Map<SessionId, VerificationSession>();
  /** Those that are not final: few, however many are remembered. */
  readonly #unfinished = new Set<SessionId>();
  readonly #changedAt = new Map<SessionId, Millis>();

  find(id: SessionId): VerificationSession | undefined {
    return this.#byId.get(id);
  }

  add(session: VerificationSession): void {
    this.#byId.set(session.id, session);
    this.#unfinished.add(session.id);
  }

  /** Stores the session in the place of what it was. */
  change(session: VerificationSession, at: Millis): void {
    this.#byId.set(session.id, session);
    this.#changedAt.set(session.id, at);
    if (isFinal(session.state)) this.#unfinished.delete(session.id);
  }

  /** Those among the sessions, or all, that changed at or after a time. */
  changedSince(at: Millis, among: ReadonlyArray<SessionId> | null): ReadonlyArray<SessionId> {
    return [...(among ?? this.#changedAt.keys())].filter(
      (id) => (this.#changedAt.get(id) ?? -Infinity) >= at,
    );
  }

  /** Those that are not final and of which `holds` is true. */
  unfinished(holds: (session: VerificationSession) => boolean): ReadonlyArray<VerificationSession> {
    return Array.from(this.#unfinished, (id) => this.#byId.get(id) as VerificationSession).filter(holds);
  }

  /** Those of which `holds` is true. */
  filter(holds: (session: VerificationSession) => boolean): ReadonlyArray<VerificationSession> {
    return [...this.#byId.values()].filter(holds);
  }

  delete(id: SessionId): void {
    this.#byId.delete(id);
    this.#unfinished.delete(id);
    this.#changedAt.delete(id);
  }

  /** Forgets those that are final and whose deadline is before a time. */
  forget(before: Millis): void {
    for (const { id, expiresAt } of this.#byId.values()) {
      if (expiresAt >= before || this.#unfinished.has(id)) continue;
      this.#byId.delete(id);
      this.#changedAt.delete(id);
    }
  }
}
