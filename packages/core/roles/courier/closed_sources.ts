import type { ChatId } from "../../ids.ts";
import type { Millis } from "../../timestamp.ts";
import type { Sources } from "../linked_game.ts";
import type { Source } from "../member_changes.ts";

/** After so many unanswered questions in a row, or after so many milliseconds of them, a source is closed. */
const [mostUnanswered, longestSilence] = [20, 600_000];

/**
 * The sources that did not answer a whole sweep, or the waiting members since. They are asked about one waiting member only,
 * the asker, until an answer starts a sweep.
 */
export class ClosedSources {
  /** Null until they are known. */
  #sources: Set<Source> | null = null;
  readonly #answered = new Set<Source>();
  /** The questions in a row that got no answer since the sweep, by source. */
  readonly #silent = new Map<Source, { readonly since: Millis; readonly questions: number }>();
  /** Null while no waiting member needs a closed source. */
  #asker: ChatId | null = null;

  get areKnown(): boolean {
    return this.#sources !== null;
  }

  close(sources: Iterable<Source>): void {
    this.#sources = new Set(sources);
    this.#answered.clear();
    this.#silent.clear();
    this.#asker = null;
  }

  /** Closes the sources that have not answered for too long, and returns them. */
  closeSilent(now: Millis): ReadonlySet<Source> {
    const closing = [...this.#silent].filter(
      ([, { since, questions }]) => questions >= mostUnanswered || now >= since + longestSilence,
    );
    for (const [source] of closing) {
      this.#silent.delete(source);
      this.#sources?.add(source);
    }
    return new Set(closing.map(([source]) => source));
  }

  /** Returns the sources that a change of the waiting member may ask. */
  sourcesFor(chatId: ChatId, now: Millis): Sources {
    return {
      isOpen: (source) => this.#sources?.has(source) !== true || (this.#asker ??= chatId) === chatId,
      note: (source, isAnswered) => {
        if (this.#sources?.has(source)) {
          if (isAnswered) this.#answered.add(source);
        } else if (isAnswered) this.#silent.delete(source);
        else {
          const { since, questions } = this.#silent.get(source) ?? { since: now, questions: 0 };
          this.#silent.set(source, { since, questions: questions + 1 });
        }
      },
      missing: new Set(),
    };
  }

  /** Lets the next member ask who needs a closed source, if the asker has left or has no link any more. */
  release(chatId: ChatId): void {
    if (chatId === this.#asker) this.#asker = null;
  }

  /** Opens the closed sources that have answered. Returns whether there are any. */
  openAnswered(): boolean {
    const isAny = this.#answered.size > 0;
    for (const source of this.#answered) this.#sources?.delete(source);
    this.#answered.clear();
    return isAny;
  }
}
