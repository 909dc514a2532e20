/**
 * Follows which sources of the game platform answer a comparison. The comparison waits for a source that stops to answer,
 * since platforms limit requests. A source that never answered is closed after some questions, so that all roles that do
 * not depend on it are known.
 */
import type { Millis } from "../timestamp.ts";
import type { Sources } from "./linked_game.ts";
import type { Source } from "./member_changes.ts";

/** After more unanswered questions in a row, a source is waited for, or closed if it never answered. */
export const mostUnanswered = 20;

interface State {
  /** How many questions in a row got no answer. */
  missed: number;
  isAnswered: boolean;
}

export class AnswerSources implements Sources {
  readonly missing = new Set<Source>();
  readonly #longestWait: Millis;
  readonly #states = new Map<Source, State>();
  /** Since when a source that answered before has been waited for; null if none is. */
  #awaitedSince: Millis | null = null;
  #isAsking = true;

  /** @param longestWait how long a source that answered before is waited for, in milliseconds */
  constructor(longestWait: Millis) {
    this.#longestWait = longestWait;
  }

  readonly isOpen = (source: Source): boolean => {
    const state = this.#states.get(source);
    const isClosed = state !== undefined && !state.isAnswered && state.missed > mostUnanswered;
    return this.#isAsking && !isClosed;
  };

  readonly note = (source: Source, isAnswered: boolean): void => {
    const { missed, isAnswered: wasAnswered } = this.#states.get(source) ?? { missed: 0, isAnswered: false };
    this.#states.set(source, {
      missed: isAnswered ? 0 : missed + 1,
      isAnswered: wasAnswered || isAnswered,
    });
  };

  /** Whether a source that answered before is waited for. After the longest wait, it is closed. */
  isAwaited(now: Millis): boolean {
    const silent = [...this.#states.values()].filter(
      ({ missed, isAnswered }) => isAnswered && missed > mostUnanswered,
    );
    this.#awaitedSince = silent.length === 0 ? null : (this.#awaitedSince ?? now);
    if (this.#awaitedSince === null) return false;
    if (now - this.#awaitedSince < this.#longestWait) return true;
    for (const state of silent) state.isAnswered = false;
    return false;
  }

  /** The sources whose last questions got no answer, and that are not known to answer. */
  get closed(): ReadonlyArray<Source> {
    return [...this.#states]
      .filter(([, { missed, isAnswered }]) => missed > 0 && !isAnswered)
      .map(([source]) => source);
  }

  /** Lets closed sources be asked again. */
  reopen(): void {
    for (const source of this.closed) this.#states.delete(source);
  }

  /** Closes all sources for good. */
  closeAll(): void {
    this.#isAsking = false;
  }
}
