/** Whether lookups come one after the other, as they do on most nodes most of the time. */

/** A lookup among others. */
export interface Turn {
  /** Whether it came alone, and the one before did and was not refused. */
  readonly isAlone: boolean;
  /** Whether another one waited for its limits when it came, or came while it waited. */
  hasCompany: boolean;
  /** Null while it waits for its limits. */
  isRefused: boolean | null;
}

/** The lookups of a node, of which only the last one is known. */
export class LookupSequence {
  #last: Turn = { isAlone: true, hasCompany: false, isRefused: false };

  /** Begins a lookup, which is to say what its limits decided. */
  begin(): Turn {
    const last = this.#last;
    const hasCompany = last.isRefused === null;
    if (hasCompany) last.hasCompany = true;
    const isAlone = !last.hasCompany && last.isRefused === false;
    this.#last = { isAlone, hasCompany, isRefused: null };
    return this.#last;
  }
}
