import type { ChatId } from "../../ids.ts";
import type { Source } from "../member_changes.ts";
import type { Sources } from "../member_sync.ts";

/**
 * The sources that did not answer a whole sweep. They are asked about one waiting member only, the asker, until an answer
 * starts a sweep.
 */
export class ClosedSources {
  /** Null until they are known. */
  #sources: Set<Source> | null = null;
  readonly #answered = new Set<Source>();
  /** Null while no waiting member needs a closed source. */
  #asker: ChatId | null = null;

  get areKnown(): boolean {
    return this.#sources !== null;
  }

  /** Replaces the closed sources. */
  close(sources: Iterable<Source>): void {
    this.#sources = new Set(sources);
    this.#answered.clear();
    this.#asker = null;
  }

  /** Returns the sources that a change of the waiting member may ask. */
  sourcesFor(chatId: ChatId): Sources {
    return {
      isOpen: (source) => this.#sources?.has(source) !== true || (this.#asker ??= chatId) === chatId,
      note: (source, isAnswered) => {
        if (isAnswered && this.#sources?.has(source)) this.#answered.add(source);
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
