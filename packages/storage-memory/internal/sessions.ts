import { isFinal, type Millis, type Sid, type VerificationSession } from "@accountlink/core";

/** The sessions, and when each last changed. */
export class Sessions {
  readonly #bySid = new Map<Sid, VerificationSession>();
  /** Those that are not final: few, however many are remembered. */
  readonly #unfinished = new Set<Sid>();
  readonly #changedAt = new Map<Sid, Millis>();

  find(sid: Sid): VerificationSession | undefined {
    return this.#bySid.get(sid);
  }

  add(session: VerificationSession): void {
    this.#bySid.set(session.sid, session);
    this.#unfinished.add(session.sid);
  }

  /** Stores the session in the place of what it was. */
  change(session: VerificationSession, at: Millis): void {
    this.#bySid.set(session.sid, session);
    this.#changedAt.set(session.sid, at);
    if (isFinal(session.state)) this.#unfinished.delete(session.sid);
  }

  /** Those among the sessions, or all, that changed at or after a time. */
  changedSince(at: Millis, among: ReadonlyArray<Sid> | null): ReadonlyArray<Sid> {
    return [...(among ?? this.#changedAt.keys())].filter(
      (sid) => (this.#changedAt.get(sid) ?? -Infinity) >= at,
    );
  }

  /** Those that are not final and of which `holds` is true. */
  unfinished(holds: (session: VerificationSession) => boolean): ReadonlyArray<VerificationSession> {
    return Array.from(this.#unfinished, (sid) => this.#bySid.get(sid) as VerificationSession).filter(holds);
  }

  /** Those of which `holds` is true. */
  filter(holds: (session: VerificationSession) => boolean): ReadonlyArray<VerificationSession> {
    return [...this.#bySid.values()].filter(holds);
  }

  delete(sid: Sid): void {
    this.#bySid.delete(sid);
    this.#unfinished.delete(sid);
    this.#changedAt.delete(sid);
  }

  /** Forgets those that are final and whose deadline is before a time. */
  forget(before: Millis): void {
    for (const { sid, expiresAt } of this.#bySid.values()) {
      if (expiresAt >= before || this.#unfinished.has(sid)) continue;
      this.#bySid.delete(sid);
      this.#changedAt.delete(sid);
    }
  }
}
