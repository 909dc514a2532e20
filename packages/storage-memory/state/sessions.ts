import type { VerificationSession } from "@accountlink/core";
import type { SessionId } from "@accountlink/core/ids";
import { isFinal } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";

/** Sessions, with the time of their last change. */
export class Sessions {
  readonly #byId = new Map<SessionId, VerificationSession>();
  /** The unfinished ones, which are few. */
  readonly #unfinished = new Set<SessionId>();
  readonly #changedAt = new Map<SessionId, Millis>();

  find(id: SessionId): VerificationSession | undefined {
    return this.#byId.get(id);
  }

  add(session: VerificationSession): void {
    this.#byId.set(session.id, session);
    this.#unfinished.add(session.id);
  }

  /** Inserts or replaces a session. */
  change(session: VerificationSession, at: Millis): void {
    this.#byId.set(session.id, session);
    this.#changedAt.set(session.id, at);
    if (isFinal(session.state)) this.#unfinished.delete(session.id);
  }

  /** The sessions that changed at or after a time, among some or all. */
  changedSince(at: Millis, among: ReadonlyArray<SessionId> | null): ReadonlyArray<SessionId> {
    return [...(among ?? this.#changedAt.keys())].filter(
      (id) => (this.#changedAt.get(id) ?? -Infinity) >= at,
    );
  }

  /** The unfinished sessions with the property. */
  unfinished(holds: (session: VerificationSession) => boolean): ReadonlyArray<VerificationSession> {
    return Array.from(this.#unfinished, (id) => this.#byId.get(id) as VerificationSession).filter(holds);
  }

  /** The sessions with the property. */
  filter(holds: (session: VerificationSession) => boolean): ReadonlyArray<VerificationSession> {
    return [...this.#byId.values()].filter(holds);
  }

  delete(id: SessionId): void {
    this.#byId.delete(id);
    this.#unfinished.delete(id);
    this.#changedAt.delete(id);
  }

  /** Deletes final sessions with a deadline before a time. */
  forget(before: Millis): void {
    for (const { id, expiresAt } of this.#byId.values()) {
      if (expiresAt >= before || this.#unfinished.has(id)) continue;
      this.#byId.delete(id);
      this.#changedAt.delete(id);
    }
  }
}
